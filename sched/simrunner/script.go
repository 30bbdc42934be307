package simrunner

import (
	"fmt"
	"time"

	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
)

// Script is a model that says what it is told to: its answer after a sequence of n tokens is Rows[n], or Default. It is
// for tests whose right answer is worked out by hand. It does not look at its cache. Copies share nothing but the table.
type Script struct {
	Rows    map[int]router.Row
	Default router.Row
	Latency time.Duration
	Fail    func(*sched.Batch) error // asked before each step; nil: none fails
}

var _ sched.HeadRunner = Script{}

// Info describes a scripted model with a vocabulary of 100 ids and room for 1024 tokens to a scheduler.
func (s Script) Info(end ...int32) sched.Info {
	return sched.Info{Vocab: 100, PageTokens: 8, Pages: 128, MaxContext: 1024, EndIDs: end}
}

// Step implements sched.Runner.
func (s Script) Step(b *sched.Batch) error {
	if s.Latency > 0 {
		time.Sleep(s.Latency)
	}
	if s.Fail != nil {
		if err := s.Fail(b); err != nil {
			return err
		}
	}
	for i := range b.Rows {
		row := &b.Rows[i]
		if row.Segment >= len(b.Segments) || row.Offset >= len(b.Segments[row.Segment].Tokens) {
			return fmt.Errorf("row %d is outside the batch", i)
		}
		out, ok := s.Rows[b.Segments[row.Segment].Position+row.Offset+1]
		if !ok {
			out = s.Default
		}
		row.Out = out
	}
	return nil
}

// CheckHead implements sched.HeadRunner: scores stand in the rows, whatever the head.
func (Script) CheckHead(sched.Head) error { return nil }

// Close implements sched.Runner.
func (Script) Close() error { return nil }
