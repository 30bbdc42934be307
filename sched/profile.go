package sched

import (
	"fmt"
	"time"
)

// profileTime is how long the profile of one model may take, the last step aside.
const profileTime = 600 * time.Millisecond

// profile measures how long steps of some sizes take, before there are requests: n requests of a token each, and of eight, as
// many times as there is time for, three at most.
func (s *subserver) profile() error {
	limit := min(s.batchLimit(), s.engine.options.MaxLive)
	var spent time.Duration
	for n := 1; n <= limit && spent < profileTime; n *= 2 {
		for _, tokens := range []int{1, 8} {
			b, ok := s.dummy(n, tokens)
			if !ok {
				continue
			}
			least := time.Duration(0)
			for try := 0; try < 3 && (try == 0 || spent < profileTime); try++ {
				took, err := s.measure(b)
				if err != nil {
					return fmt.Errorf("model %q: profile of a step of %d requests with %d tokens: %w", s.name, n, n*tokens, err)
				}
				spent += took
				if least == 0 || took < least {
					least = took
				}
			}
			s.observed.profile = append(s.observed.profile, shapeOf(n, n*tokens, least))
		}
	}
	return nil
}

func shapeOf(requests, tokens int, took time.Duration) shape {
	return shape{float64(requests), float64(tokens), max(took, 1).Seconds()}
}

func (s *subserver) measure(b *Batch) (time.Duration, error) {
	if timed, ok := s.runner.(Timed); ok {
		return timed.Latency(b), nil
	}
	start := time.Now()
	err := s.runner.Step(b)
	return time.Since(start), err
}

// dummy makes a batch of n requests at their beginning, with this many tokens each, on pages that nobody uses yet.
func (s *subserver) dummy(n, tokens int) (*Batch, bool) {
	each := s.pool.PagesFor(tokens)
	if n*each > s.pool.Pages() || tokens > s.info.MaxContext || n*tokens > s.tokenLimit() {
		return nil, false
	}
	b := &Batch{}
	ids := make([]int32, tokens)
	for i := range n {
		pages := make([]int32, each)
		for k := range pages {
			pages[k] = int32(i*each + k)
		}
		b.Segments = append(b.Segments, Segment{Tokens: ids, Pages: pages})
		b.Rows = append(b.Rows, Row{Segment: i, Offset: tokens - 1, Vocab: s.info.Vocab, Sampling: &Sampling{}})
	}
	return b, true
}
