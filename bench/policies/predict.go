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

// Prediction is what the throughput model says for the latencies as they were measured during the runs, with the time that the prompts
// take: the model speaks of requests that are writing.
type Prediction struct {
	Small     Latency            `json:"small"`
	Large     Latency            `json:"large"`
	Prompt    float64            `json:"prompt_tokens_per_token"` // of an answer
	Threshold int                `json:"threshold"`               // B*
	Best      float64            `json:"tokens_per_second"`       // at B*
	Policies  map[string]float64 `json:"policies"`                // tokens per second
}

// predict asks the throughput model about n live requests on one device. Each model that a request comes to takes in its prompt, of
// `prompt` tokens per token of the answer, beside what it takes in anyway: that costs the rows. All requests come to the large model.
func predict(n int, share, prompt float64, small, large Latency, policies []policy) (*Prediction, error) {
	s := &throughput.System{Requests: n, Shared: true, Latencies: []throughput.Latency{small.affine(), large.affine()}}
	s.P, s.C = throughput.Asymmetric(share)
	best, err := s.Optimum()
	if err != nil {
		return nil, err
	}
	both := prompt * (small.PerRow + large.PerRow) / 1000
	p := &Prediction{Small: small, Large: large, Prompt: prompt, Threshold: best.Best.Thresholds[1],
		Best: slower(best.Best.Throughput, both), Policies: make(map[string]float64)}
	for _, by := range policies {
		b := 1
		switch {
		case by.alone:
			p.Policies[by.name] = slower(s.Alone(1), prompt*large.PerRow/1000)
			continue
		case by.name == stepSyncName:
			p.Policies[by.name] = slower(stepSync(s, share), both)
			continue
		case by.learns():
			p.Policies[by.name] = p.Best
			continue
		case by.name == smallFirstName, by.name == modelSyncName:
			b = n
		case by.name != largeFirstName:
			b = min(by.threshold, n)
		}
		rate, err := s.Throughput([]int{1, b})
		if err != nil {
			return nil, err
		}
		p.Policies[by.name] = slower(rate, both)
	}
	return p, nil
}

// slower is a throughput when each token takes so many seconds more.
func slower(rate, seconds float64) float64 { return 1 / (1/rate + seconds) }

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
