package main

import (
	"fmt"
	"slices"
	"time"
)

// call is a stretch of time in which the native library was at a step.
type call struct{ began, ended time.Time }

// Gaps are the stretches between two steps in which the device had none to run, in microseconds: from the moment at which the library came back
// to that at which it was called again, for either model. Routing, sending, receiving and deciding whose step comes next lie in them.
type Gaps struct {
	Count  int     `json:"count"`
	Median float64 `json:"median_us"`
	P95    float64 `json:"p95_us"`
}

func (g *Gaps) String() string {
	if g == nil {
		return "no gaps"
	}
	return fmt.Sprintf("gaps of %.0f us (p95 %.0f)", g.Median, g.P95)
}

// gapsOf are those between the calls of all models of a device, in any order; nil without any. Steps that overlap have none between them.
func gapsOf(calls []call) *Gaps {
	calls = slices.SortedFunc(slices.Values(calls), func(a, b call) int { return a.began.Compare(b.began) })
	var list []time.Duration
	var end time.Time
	for i := 1; i < len(calls); i++ {
		if last := calls[i-1].ended; last.After(end) {
			end = last
		}
		if gap := calls[i].began.Sub(end); gap > 0 {
			list = append(list, gap)
		}
	}
	if len(list) == 0 {
		return nil
	}
	slices.Sort(list)
	return &Gaps{len(list), 1e6 * quantile(list, 0.5).Seconds(), 1e6 * quantile(list, 0.95).Seconds()}
}
