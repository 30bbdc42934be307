// Package measure times bare forward passes of one model: decoding by batch, prefill, and extending a sequence by a few tokens,
// as a return from a peer does. No scheduler and no HTTP are involved.
package measure

import (
	"fmt"
	"slices"
	"time"

	"github.com/tokenrouter/tokenrouter/sched"
)

// Kind is what a figure is of.
type Kind string

const (
	Decode  Kind = "decode"  // one token of every sequence of a batch, drawn greedily and fed back
	Prefill Kind = "prefill" // a prompt from nothing
	Scored  Kind = "scored"  // Decode with rows that a router head scores
	Extend  Kind = "extend"  // a few tokens appended to every sequence of a batch, and the next one of each drawn
)

// Case is one thing to measure.
type Case struct {
	Kind    Kind
	Batch   int // sequences; 1 of Prefill
	Tokens  int // of each sequence in a step: 1 for these
	Context int // tokens of each sequence in the KV cache at the start
}

// Figure is a case and how long it took.
type Figure struct {
	Kind            Kind    `json:"kind"`
	Batch           int     `json:"batch"`
	Tokens          int     `json:"tokens"`  // of each sequence in a step
	Context         int     `json:"context"` // of each sequence before the first step
	Steps           int     `json:"steps"`
	StepMillis      float64 `json:"step_ms"` // median
	TokensPerSecond float64 `json:"tokens_per_second"`
	// Of the timed steps, those whose graph was there, and others; both 0 on a device that has none.
	GraphHits   uint64 `json:"graph_hits,omitempty"`
	GraphMisses uint64 `json:"graph_misses,omitempty"`
}

// Options of a measurement. All numbers are at least 1.
type Options struct {
	Chunk int               // most prompt tokens of one step
	Steps int               // timed steps of Decode and Extend
	Runs  int               // timed runs of Prefill
	Head  *sched.NativeHead // of Scored, loaded for the model; not needed otherwise
	// Shared lets the sequences of Decode begin with the same tokens in the same pages, as requests with a common prompt do:
	// a long context is then read in once. Every sequence attends to all of it, so that a step costs what it costs otherwise,
	// but for what the processor's caches save.
	Shared bool
	// Copied computes the context of one sequence only, and copies its pages to the others: they begin with the same tokens, too, but
	// each reads keys and values of its own.
	Copied bool
}

// Run measures one case on a model. The median of the steps counts, so that a pause of the machine does not.
func Run(model *sched.NativeModel, c Case, o Options) (f Figure, err error) {
	// Decoding grows the context by a token per step; an extend is taken back, so that all are of the same length.
	room := c.Context + c.Tokens
	if c.Kind == Decode || c.Kind == Scored {
		room += o.Steps
	}
	s, err := newSequences(model, c.Batch, room, max(o.Chunk, c.Tokens*c.Batch), o.sharedTokens(c))
	if err != nil {
		return f, fmt.Errorf("%s: %w", c.Kind, err)
	}
	defer func() {
		if closed := s.runner.Close(); err == nil {
			err = closed
		}
	}()
	s.copied = o.Copied
	if c.Kind == Scored {
		if o.Head == nil {
			return f, fmt.Errorf("%s: no router head was given", c.Kind)
		}
		s.head = o.Head
	}
	f = Figure{Kind: c.Kind, Batch: c.Batch, Tokens: c.Tokens, Context: c.Context}
	var took []time.Duration
	var before sched.GraphCounts
	warm := func() { before = s.graphs() }
	switch c.Kind {
	case Prefill:
		took, err = times(o.Runs, warm, func() error { return s.fill(c.Tokens, o.Chunk) })
	case Decode, Scored:
		if err = s.fill(c.Context, o.Chunk); err == nil {
			took, err = times(o.Steps, warm, func() error { return s.extend(1, true) })
		}
	case Extend:
		if err = s.fill(c.Context, o.Chunk); err == nil {
			took, err = times(o.Steps, warm, func() error { return s.extend(c.Tokens, false) })
		}
	default:
		err = fmt.Errorf("there is no such kind of measurement")
	}
	if err != nil {
		return f, fmt.Errorf("%s: %w", c.Kind, err)
	}
	slices.Sort(took)
	median := took[len(took)/2].Seconds()
	f.Steps, f.StepMillis = len(took), 1e3*median
	f.TokensPerSecond = float64(c.Batch*c.Tokens) / median
	after := s.graphs()
	f.GraphHits, f.GraphMisses = after.Hits-before.Hits, after.Misses-before.Misses
	return f, nil
}

// sharedTokens are the leading tokens that all sequences have in common: whole pages.
func (o Options) sharedTokens(c Case) int {
	if !o.Shared || (c.Kind != Decode && c.Kind != Scored) {
		return 0
	}
	return c.Context - c.Context%sched.NativePageTokens
}

// times runs step once to warm up, says so, then runs it n times with a clock.
func times(n int, warm func(), step func() error) ([]time.Duration, error) {
	if err := step(); err != nil {
		return nil, err
	}
	warm()
	took := make([]time.Duration, n)
	for i := range took {
		start := time.Now()
		if err := step(); err != nil {
			return nil, err
		}
		took[i] = time.Since(start)
	}
	return took, nil
}
