package sched

import (
	"context"
	"io"
	"sync"
)

// Stream is the answer to one request. Its methods are safe for concurrent use.
type Stream struct {
	id     string
	cancel func()

	mu      sync.Mutex
	events  []Event // not yet read
	ended   bool    // the last event has been pushed
	changed signal  // raised by every push; wakes one reader
	account account
}

// account is what a summary is made of.
type account struct {
	models     []string
	tokens     []int // [models] committed tokens
	cached     int   // of the prompt
	completion int
	discarded  int
	drafted    int
	accepted   int
	handoffs   int
	fixed      Summary // the fields that do not change
}

func newStream(spec *Spec) *Stream {
	return &Stream{changed: newSignal(), account: account{
		models: spec.Models, tokens: make([]int, len(spec.Models)),
		fixed: Summary{Prompt: spec.Prompt, Route: spec.Route, Algorithm: spec.Algorithm},
	}}
}

// ID returns the request's ID.
func (s *Stream) ID() string { return s.id }

// Next returns the next event. After the last one (the one with Finish set) it returns io.EOF. It waits no longer than
// ctx allows; giving up on Next does not cancel the request. A reader that is slow, or never reads, holds up nobody.
func (s *Stream) Next(ctx context.Context) (Event, error) {
	for {
		s.mu.Lock()
		if len(s.events) > 0 {
			event := s.events[0]
			s.events[0] = Event{}
			s.events = s.events[1:]
			more := len(s.events) > 0 || s.ended
			s.mu.Unlock()
			if more {
				s.changed.raise() // for another reader
			}
			return event, nil
		}
		ended := s.ended
		s.mu.Unlock()
		if ended {
			s.changed.raise()
			return Event{}, io.EOF
		}
		select {
		case <-s.changed:
		case <-ctx.Done():
			return Event{}, context.Cause(ctx)
		}
	}
}

// Summary returns the account of the request: final once Next has returned the last event, so far before that.
func (s *Stream) Summary() Summary {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := &s.account
	sum := a.fixed
	sum.Cached = a.cached
	sum.Completion, sum.Discarded, sum.Handoffs = a.completion, a.discarded, a.handoffs
	sum.Drafted, sum.Accepted = a.drafted, a.accepted
	sum.Tokens = make(map[string]int, len(a.models))
	for i, name := range a.models {
		sum.Tokens[name] = a.tokens[i]
	}
	return sum
}

// Completion is the number of tokens so far, and whether there will be no more.
func (s *Stream) Completion() (tokens int, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.account.completion, s.ended
}

// Cancel ends the request on all subservers; the last event then has FinishCancelled. After the end it does nothing.
func (s *Stream) Cancel() { s.cancel() }

// written is how many tokens so far the other models, and the entry, wrote.
func (s *Stream) written() (others, entry int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.account.completion - s.account.tokens[0], s.account.tokens[0]
}

// count adds a committed token to the account.
func (s *Stream) count(info *TokenInfo) {
	s.mu.Lock()
	s.account.tokens[info.Model]++
	s.account.completion++
	s.account.discarded += len(info.Discarded)
	s.account.handoffs += info.Handoffs
	if info.Drafted {
		s.account.drafted++
		s.account.accepted++
	}
	for i := range info.Discarded {
		if info.Discarded[i].Draft {
			s.account.drafted++
		}
	}
	s.mu.Unlock()
}

// cached notes how much of the prompt was not read.
func (s *Stream) cached(positions int) {
	s.mu.Lock()
	s.account.cached = positions
	s.mu.Unlock()
}

// push hands an event to the reader. It never waits.
func (s *Stream) push(e Event) {
	s.mu.Lock()
	s.events = append(s.events, e)
	s.ended = e.Finish != ""
	s.mu.Unlock()
	s.changed.raise()
}
