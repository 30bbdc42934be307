package simrunner

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/tokenrouter/tokenrouter/sched"
)

// Model is what a simulated model is like. Its zero fields mean the defaults stated there.
type Model struct {
	Seed       uint64 // models of different seeds write different texts
	Vocab      int    // default 1000
	PageTokens int    // default 8
	Pages      int    // default 64
	MaxContext int    // default: what the pages hold
	EndIDs     []int32
	EndRate    float64 // share of tokens that are an end-of-sequence id
	// Accord is the share of tokens that the model draws as all models do that have it, where they draw at all.
	Accord float64
	// Sure is the share of positions at which the model is certain (entropy below 0.01 nats); at the others the
	// entropy lies anywhere up to that of the uniform distribution.
	Sure float64
	// Latency is how long a step takes. Default: no time.
	Latency func(*sched.Batch) time.Duration
	// Fail makes steps fail: it is asked before each. Default: none does.
	Fail func(*sched.Batch) error
}

// Info describes the model to a scheduler.
func (m Model) Info() sched.Info {
	m = m.complete()
	return sched.Info{Vocab: m.Vocab, PageTokens: m.PageTokens, Pages: m.Pages, MaxContext: m.MaxContext, EndIDs: m.EndIDs}
}

func (m Model) complete() Model {
	if m.Vocab == 0 {
		m.Vocab = 1000
	}
	if m.PageTokens == 0 {
		m.PageTokens = 8
	}
	if m.Pages == 0 {
		m.Pages = 64
	}
	if m.MaxContext == 0 {
		m.MaxContext = m.Pages * m.PageTokens
	}
	return m
}

// Runner runs a simulated model on a KV cache of its own. It implements sched.Runner.
type Runner struct {
	model  Model
	cells  []int32 // [pages*page tokens] token ids; -1: never written
	writes []int   // [pages] the step that named the page for writing last
	steps  int
	inUse  atomic.Bool
	closed atomic.Bool
	ids    []int32   // memory of the answers of the last step
	floats []float32 // likewise
}

var _ sched.HeadRunner = (*Runner)(nil)

// New returns a runner with an empty cache.
func New(m Model) *Runner {
	m = m.complete()
	r := &Runner{model: m, cells: make([]int32, m.Pages*m.PageTokens), writes: make([]int, m.Pages)}
	for i := range r.cells {
		r.cells[i] = -1
	}
	return r
}

// Closed reports whether the runner has been closed.
func (r *Runner) Closed() bool { return r.closed.Load() }

// Close implements sched.Runner.
func (r *Runner) Close() error {
	if r.closed.Swap(true) {
		return fmt.Errorf("simulated runner closed twice")
	}
	return nil
}

// Step implements sched.Runner. All checks come before the first write.
func (r *Runner) Step(b *sched.Batch) error {
	if r.closed.Load() {
		return fmt.Errorf("step of a closed runner")
	}
	if r.inUse.Swap(true) {
		return fmt.Errorf("two steps of one runner at a time")
	}
	defer r.inUse.Store(false)
	r.steps++
	r.reuse()
	if len(b.Segments) == 0 {
		return fmt.Errorf("a batch without segments")
	}
	for i := range b.Segments {
		if err := r.checkSegment(&b.Segments[i]); err != nil {
			return fmt.Errorf("segment %d: %w", i, err)
		}
	}
	for i := range b.Rows {
		if err := r.checkRow(b, &b.Rows[i]); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
	}
	if r.model.Latency != nil {
		time.Sleep(r.model.Latency(b))
	}
	if r.model.Fail != nil {
		if err := r.model.Fail(b); err != nil {
			return err
		}
	}
	for i := range b.Segments {
		for j, t := range b.Segments[i].Tokens {
			*r.cell(&b.Segments[i], b.Segments[i].Position+j) = t
		}
	}
	for i := range b.Rows {
		if err := r.answer(&b.Segments[b.Rows[i].Segment], &b.Rows[i]); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
	}
	return nil
}

func (r *Runner) cell(s *sched.Segment, position int) *int32 {
	n := r.model.PageTokens
	return &r.cells[int(s.Pages[position/n])*n+position%n]
}

// checkSegment refuses what a real cache could not do, and marks the pages that the segment writes.
func (r *Runner) checkSegment(s *sched.Segment) error {
	n, end := r.model.PageTokens, s.Position+len(s.Tokens)
	switch {
	case len(s.Tokens) == 0 || s.Position < 0:
		return fmt.Errorf("%d tokens at position %d", len(s.Tokens), s.Position)
	case end > len(s.Pages)*n:
		return fmt.Errorf("tokens up to %d, but pages for %d", end, len(s.Pages)*n)
	case end > r.model.MaxContext:
		return fmt.Errorf("tokens up to %d, beyond the context of %d", end, r.model.MaxContext)
	}
	for _, t := range s.Tokens {
		if t < 0 || int(t) >= r.model.Vocab {
			return fmt.Errorf("token %d is not one of %d", t, r.model.Vocab)
		}
	}
	for i, page := range s.Pages {
		if page < 0 || int(page) >= r.model.Pages {
			return fmt.Errorf("page %d is not one of %d", page, r.model.Pages)
		}
		if (i+1)*n <= s.Position || i*n >= end {
			continue // not written
		}
		if r.writes[page] == r.steps {
			return fmt.Errorf("page %d is written by two segments", page)
		}
		r.writes[page] = r.steps
	}
	for p := range s.Position {
		if *r.cell(s, p) < 0 {
			return fmt.Errorf("position %d of %d is not in the cache", p, s.Position)
		}
	}
	return nil
}

func (r *Runner) checkRow(b *sched.Batch, row *sched.Row) error {
	switch {
	case row.Segment < 0 || row.Segment >= len(b.Segments):
		return fmt.Errorf("segment %d of %d", row.Segment, len(b.Segments))
	case row.Offset < 0 || row.Offset >= len(b.Segments[row.Segment].Tokens):
		return fmt.Errorf("offset %d of %d", row.Offset, len(b.Segments[row.Segment].Tokens))
	case row.Vocab < 1 || row.Vocab > r.model.Vocab:
		return fmt.Errorf("%d ids in play of %d", row.Vocab, r.model.Vocab)
	case row.Sampling == nil:
		return fmt.Errorf("no sampling parameters")
	case row.Needs.Head && row.Head == nil:
		return fmt.Errorf("a score is wanted, and no head named")
	case row.Head != nil && row.Needs.Top < row.Head.Top():
		return fmt.Errorf("the top %d ids are asked for; its head looks at %d", row.Needs.Top, row.Head.Top())
	}
	if row.Head == nil {
		return nil
	}
	return r.CheckHead(row.Head)
}

// uniform turns a hash into a number in [0, 1).
func uniform(h uint64) float64 { return float64(h>>11) / (1 << 53) }

// mix is the finalizer of SplitMix64 (Steele, Lea, Flood 2014): every bit of x reaches every bit of the answer.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func float(x float32) uint64 { return uint64(math.Float32bits(x)) }
