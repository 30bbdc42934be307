package app

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/api"
)

// survivor is an answer of a route with on_peer_failure: continue. When a model other than the entry fails, the entry writes the
// rest alone: its request goes on from the tokens that were committed.
type survivor struct {
	submit  func(sched.Request) (api.Stream, error) // to the engine, for the same client
	request sched.Request
	entry   string
	lost    func(model string, err error) // hears of a model that failed

	stream  api.Stream
	written []int32
	before  *sched.Summary // of the stream that failed; nil: none has
	failed  string         // the model that did
}

// Next implements api.Stream.
func (s *survivor) Next(ctx context.Context) (sched.Event, error) {
	for {
		e, err := s.stream.Next(ctx)
		for i := range e.Tokens {
			s.written = append(s.written, e.Tokens[i].ID)
		}
		if err != nil || e.Finish != sched.FinishError || !s.goOn(e.Err) {
			return e, err
		}
		e.Finish, e.Err = "", nil
		if e.Text != "" || len(e.Tokens) > 0 {
			return e, nil
		}
	}
}

// goOn asks the entry for the rest, if the failure is another model's.
func (s *survivor) goOn(failure error) bool {
	var of *sched.ModelError
	if s.before != nil || !errors.As(failure, &of) || of.Model == s.entry {
		return false
	}
	r := s.request
	r.ID, r.Target, r.Algorithm = "", s.entry, ""
	r.Params = sched.Request{}.Params
	r.Prompt = slices.Concat(r.Prompt, s.written)
	if r.MaxTokens > 0 {
		if r.MaxTokens -= len(s.written); r.MaxTokens <= 0 {
			return false
		}
	}
	before := s.stream.Summary()
	next, err := s.submit(r)
	if err != nil {
		return false // the failure that it was to get over says more
	}
	s.lost(of.Model, of.Err)
	s.before, s.stream, s.failed = &before, next, of.Model
	return true
}

// Summary implements api.Stream.
func (s *survivor) Summary() sched.Summary {
	now := s.stream.Summary()
	if s.before == nil {
		return now
	}
	sum := *s.before
	sum.Tokens = maps.Clone(sum.Tokens)
	if sum.Tokens == nil {
		sum.Tokens = map[string]int{}
	}
	for name, n := range now.Tokens {
		sum.Tokens[name] += n
	}
	if sum.Completion == 0 { // nobody has told
		sum.Cached = now.Cached
	}
	sum.Completion += now.Completion
	sum.Discarded += now.Discarded
	sum.Lost = s.failed
	return sum
}
