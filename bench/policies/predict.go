package main

import (
	"math"

	"github.com/tokenrouter/tokenrouter/sched/throughput"
)

// Latency is the estimate of a model's step: base, per request, and per token taken in, in milliseconds.
type Latency struct {
	Base       float64 `json:"base_ms"`
	PerRequest float64 `json:"per_request_ms"`
	PerRow     float64 `json:"per_row_ms"`
}

func (l Latency) affine() throughput.Affine {
	return throughput.Affine{Base: l.Base / 1000, PerRequest: l.PerRequest / 1000, PerRow: l.PerRow / 1000}
}

// Prediction is what the throughput model says for the latencies as they were measured during the runs.
type Prediction struct {
	Small     Latency            `json:"small"`
	Large     Latency            `json:"large"`
	Threshold int                `json:"threshold"`         // B*
	Best      float64            `json:"tokens_per_second"` // at B*
	Policies  map[string]float64 `json:"policies"`          // tokens per second
}

// predict asks the throughput model about n live requests on one device.
func predict(n int, share float64, small, large Latency, policies []policy) (*Prediction, error) {
	s := &throughput.System{Requests: n, Shared: true, Latencies: []throughput.Latency{small.affine(), large.affine()}}
	s.P, s.C = throughput.Asymmetric(share)
	best, err := s.Optimum()
	if err != nil {
		return nil, err
	}
	p := &Prediction{Small: small, Large: large, Threshold: best.Best.Thresholds[1], Best: best.Best.Throughput,
		Policies: make(map[string]float64)}
	for _, by := range policies {
		b := 1
		switch {
		case by.alone:
			p.Policies[by.name] = s.Alone(1)
			continue
		case by.name == stepSyncName:
			p.Policies[by.name] = stepSync(s, share)
			continue
		case by.learns():
			p.Policies[by.name] = best.Best.Throughput
			continue
		case by.name == smallFirstName, by.name == modelSyncName:
			b = n
		case by.name != largeFirstName:
			b = min(by.threshold, n)
		}
		if p.Policies[by.name], err = s.Throughput([]int{1, b}); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// stepSync is the throughput when all requests write a position together: a step of the small model on all, then, if any is
// routed, one of the large model on those, each with all that it has not seen.
func stepSync(s *throughput.System, share float64) float64 {
	n := float64(s.Requests)
	seconds := s.Latencies[0].Step(n, n)
	odds := math.Pow(1-share, n) // of k = 0 routed requests
	for k := 1.0; k <= n; k++ {
		odds *= (n - k + 1) / k * share / (1 - share)
		seconds += odds * s.Latencies[1].Step(k, k/share)
	}
	return n / seconds
}
