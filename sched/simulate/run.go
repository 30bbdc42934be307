package simulate

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tokenrouter/tokenrouter/sched"
)

// Report is what came out.
type Report struct {
	Policy     sched.Policy  `json:"policy"`
	Order      sched.Order   `json:"order,omitempty"` // of eager
	Elapsed    time.Duration `json:"elapsed_ns"`      // virtual time that was measured
	Throughput float64       `json:"throughput"`      // tokens per second, of all requests together
	Answers    int           `json:"answers"`         // that ended
	Median     float64       `json:"ttft_median"`     // seconds from a request to its first token
	Tail       float64       `json:"ttft_p95"`
	Models     []ModelReport `json:"models"`           // in the order of the scenario
	Phases     []float64     `json:"phases,omitempty"` // with changes: tokens per second before, between and after them
}

// ModelReport is what one model did.
type ModelReport struct {
	Name      string  `json:"name"`
	Share     float64 `json:"share"` // of the tokens
	Steps     int     `json:"steps"`
	Batch     float64 `json:"batch"`     // requests per step, in the mean
	Rows      float64 `json:"rows"`      // tokens taken in per step, in the mean
	Busy      float64 `json:"busy"`      // share of the time that its steps took
	Threshold int     `json:"threshold"` // at the end
}

// simulation is a run under way.
type simulation struct {
	*Scenario
	watcher *sched.Observer
	engine  *sched.Virtual
	matrix  *matrix
	runners []*runner
	live    []*sched.Stream
	asked   map[*sched.Stream]time.Duration // of those without a token
	next    uint64

	done   int // tokens of requests that have ended
	ended  int
	first  []float64
	counts []counts
}

// counts are of one model.
type counts struct {
	steps, requests, rows int
	busy                  time.Duration
}

// Run simulates. It takes about a second per million steps of requests. The observer, which may be nil, sees all, the time of
// warming up included.
func (s *Scenario) Run(watcher *sched.Observer) (*Report, error) {
	system, err := s.System()
	if err != nil {
		return nil, fmt.Errorf("scenario: %w", err)
	}
	m := &simulation{Scenario: s, watcher: watcher, asked: make(map[*sched.Stream]time.Duration), counts: make([]counts, len(s.Models))}
	m.matrix = newMatrix(clone(system.P), clone(system.C))
	o := m.options(system.Latencies)
	if m.engine, err = sched.NewVirtual(o); err != nil {
		return nil, err
	}
	report, err := m.run()
	return report, errors.Join(err, m.engine.Close())
}

func clone(m [][]float64) [][]float64 {
	c := make([][]float64, len(m))
	for i := range m {
		c[i] = slices.Clone(m[i])
	}
	return c
}
