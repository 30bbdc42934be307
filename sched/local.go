package sched

import (
	"time"

	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched/kv"
)

// local is one request at one subserver. The subserver's lock guards it, with one exception: while it is running, its
// decode loop alone touches tokens, draft, cache, history, grammar, known and threshold, and may read them without the lock.
type local struct {
	id         string
	generation uint64 // engine-wide order of arrival: the lower, the older
	spec       *Spec
	self       int // index of this model in the route
	role       router.Role
	head       Head // that scores its rows, or nil
	state      State

	tokens  []int32      // prompt and committed tokens known here; grows only. Drafts lie behind, in the same memory
	draft   []Discard    // tokens that may follow: sampled here by a role that drafts, or sent along by a peer
	cache   *kv.Sequence // its Length is how many of tokens, and of the drafts behind them, are in the KV cache
	history *History     // of tokens, when penalties are set
	grammar constrained  // where tokens have led in the request's grammar
	known   []int        // [models of the route] how many of tokens the other model is believed to have

	urgent   bool      // waits for no threshold: no token is committed yet, or the extend is under way
	own      bool      // the last token was written here and is not in the cache: extending it is decode
	recalled int       // positions found in the cache when it last came to have nothing there
	found    int       // positions found there before it was first read
	read     bool      // a step has taken it, be it ahead of need
	rebuild  int       // positions below this were in the cache once and lost to an eviction
	since    time.Time // when it came to wait; kept with a maximal wait, or for an observer
	stepped  bool      // a step has taken it here
	pages    int       // waiting: KV pages that its tokens and one more need
	round    uint64    // with StepSync: the round in which its last token was written
	take     int       // tokens of the step being planned or run
	row      int       // index of its first row in the step
	rows     int       // how many it has there
	device   bool      // part of the step on the device: its pages are being written, also when it is finished

	sharing   *sharing // at the entry of an algorithm with a score
	written   int      // at the entry: tokens that it wrote
	threshold *float64 // the one that a share amounts to, as last decided at the entry

	guest     bool  // no peer has handed it off here yet: it is known for what can be extended ahead of need
	unfit     bool  // nothing is extended ahead of need: it failed, or would be in vain
	early     int   // tokens in the cache that were extended ahead of need, and have not been of use yet
	firm      int   // pending: how much of the cache was there when it left; what follows was extended ahead of need
	listeners []int // at the entry: models that are told of tokens as they are committed

	left      time.Time // pending: since when; kept for an observer
	away      int       // pending: index of the model that has it
	handoffs  int       // since the last committed token
	discarded []Discard // since the last committed token

	prev, next *local // in the waiting queue
}

// need is the number of tokens to extend before the next row.
func (l *local) need() int { return len(l.sequence()) - l.cache.Length() }

// append commits tokens. Drafts must agree with them, or have been dropped.
func (l *local) append(tokens ...int32) {
	l.tokens = append(l.tokens, tokens...)
	if l.history != nil {
		l.history.Add(tokens...)
	}
}

// first reports whether no step has taken the request since its admission, here or anywhere.
func (l *local) first() bool { return !l.stepped && l.handoffs == 0 && len(l.tokens) == l.spec.Prompt }

// stream is the stream of random numbers that this model's tokens are drawn from.
func (l *local) stream() uint32 {
	if l.role.AsAlone {
		return 0
	}
	return uint32(l.self)
}

// view is what the functions of an algorithm see of the request.
func (l *local) view() router.View {
	return router.View{
		Model:     l.self,
		Models:    len(l.spec.Models),
		Vocab:     l.spec.Vocab,
		Tokens:    l.tokens[:len(l.tokens):len(l.tokens)],
		Draft:     l.sequence()[len(l.tokens):],
		Left:      l.spec.MaxLength - len(l.tokens),
		Prompt:    l.spec.Prompt,
		Params:    l.spec.Params,
		Threshold: l.threshold,
		Seed:      l.spec.Sampling.Seed,
		Choice:    l.spec.Sampling.Choice,
	}
}

// over says whether a sequence that has just got its last token is finished, and why.
func (s *Spec) over(last int32, length int) (FinishReason, bool) {
	if s.ends(last) {
		return FinishStop, true
	}
	if length >= s.MaxLength {
		return FinishLength, true
	}
	return "", false
}

// ends reports whether a token ends the answer.
func (s *Spec) ends(token int32) bool {
	if s.IgnoreEnd {
		return false
	}
	for _, id := range s.End {
		if id == token {
			return true
		}
	}
	return false
}

// penalized reports whether drawing needs the history of the sequence.
func (s *Sampling) penalized() bool {
	return s.RepetitionPenalty != 0 && s.RepetitionPenalty != 1 || s.PresencePenalty != 0 || s.FrequencyPenalty != 0
}
