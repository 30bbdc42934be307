package main

import (
	"math"
	"slices"

	"github.com/tokenrouter/tokenrouter/bench/report"
)

// Result is the file that is written.
type Result struct {
	Setting  report.Circumstances `json:"setting"`
	Options  Options              `json:"options"`
	Complete bool                 `json:"complete"` // all that was asked for was measured
	Cases    []*Case              `json:"cases"`
}

// Options are what is measured.
type Options struct {
	Small    string    `json:"small"`
	Large    string    `json:"large"`
	Device   string    `json:"device"`
	Sharing  string    `json:"sharing"` // exclusive or concurrent
	Threads  int       `json:"threads"`
	Requests []int     `json:"requests"`
	Shares   []float64 `json:"shares"`
	Tokens   int       `json:"tokens"`
	Each     int       `json:"each"`
	Rounds   int       `json:"rounds"`
	Prompts  string    `json:"prompts,omitempty"`
	Policies []policy  `json:"-"`
	Add      bool      `json:"-"`
}

// Case is one number of live requests at one share.
type Case struct {
	Requests   int                `json:"requests"`
	Share      float64            `json:"share"`
	SameTokens bool               `json:"same_tokens"` // under all policies, in all rounds; the large model alone aside
	Policies   map[string]*Figure `json:"policies"`
	Prediction *Prediction        `json:"prediction,omitempty"`
	// Ratios of tokens per second over the whole time, medians of the rounds' ratios.
	LazyOverEager float64 `json:"lazy_over_eager,omitempty"` // the better order of each round
	LazyOverBest  float64 `json:"lazy_over_best_other,omitempty"`
	LazyOverLarge float64 `json:"lazy_over_large_alone,omitempty"`
	// The same if a step of a size took as long under all of them, and over the prediction's optimum, which is for these times.
	LazyOverPredicted float64 `json:"lazy_over_predicted,omitempty"`
	EqualOverEager    float64 `json:"lazy_over_eager_at_equal_steps,omitempty"`
	EqualOverBest     float64 `json:"lazy_over_best_other_at_equal_steps,omitempty"`
	EqualOverLarge    float64 `json:"lazy_over_large_alone_at_equal_steps,omitempty"`

	SteadyOverEager float64 `json:"steady_lazy_over_eager,omitempty"`
	SteadyOverBest  float64 `json:"steady_lazy_over_best_other,omitempty"`
}

// Figure is one policy in one case: medians of the rounds.
type Figure struct {
	All        float64 `json:"tokens_per_second"`
	Steady     float64 `json:"steady_tokens_per_second"`
	SteadyPart float64 `json:"steady_part"` // of all tokens
	// Tokens per second over the whole time if a step of a size took as long under every policy: what the case's runs estimated.
	// Steps are nearly all of the time, so this is what the policy does, without what the machine did meanwhile.
	Equal      float64 `json:"tokens_per_second_at_equal_steps,omitempty"`
	FirstP50   float64 `json:"first_token_p50_ms"`
	FirstP95   float64 `json:"first_token_p95_ms"`
	Handoffs   int     `json:"handoffs"`
	LargeShare float64 `json:"large_share"`
	Threshold  int     `json:"threshold"` // of the large model as planned, in the middle of the last run
	MaxWait    float64 `json:"max_wait_ms"`
	Runs       []Run   `json:"runs"`
}

// Run is one round of it.
type Run struct {
	All        float64   `json:"tokens_per_second"`
	Steady     float64   `json:"steady_tokens_per_second"`
	SteadyPart float64   `json:"steady_part"`
	First      []float64 `json:"first_tokens_ms,omitempty"` // times to the first token: of the first requests of all clients, of their second ones, and so on
	Threshold  int       `json:"threshold"`
	MaxWait    float64   `json:"max_wait_ms"`
	Busy       float64   `json:"steps_of_time"` // how much of the time models take steps
	SmallSteps Steps     `json:"small_steps"`
	LargeSteps Steps     `json:"large_steps"`
	Gaps       *Gaps     `json:"gaps,omitempty"`
	Digest     string    `json:"tokens"`

	// What a policy with a profile estimated in the middle of the run.
	Small *Latency `json:"small_step,omitempty"`
	Large *Latency `json:"large_step,omitempty"`

	handoffs int
	share    float64
}

// add adds a round and takes the medians anew.
func (f *Figure) add(r Run) {
	f.Runs = append(f.Runs, r)
	of := func(get func(*Run) float64) float64 {
		list := make([]float64, len(f.Runs))
		for i := range f.Runs {
			list[i] = get(&f.Runs[i])
		}
		return median(list)
	}
	f.All = of(func(r *Run) float64 { return r.All })
	f.Steady = of(func(r *Run) float64 { return r.Steady })
	f.SteadyPart = of(func(r *Run) float64 { return r.SteadyPart })
	f.FirstP50, f.FirstP95 = f.first()
	f.MaxWait = of(func(r *Run) float64 { return r.MaxWait })
	f.Handoffs, f.LargeShare, f.Threshold = r.handoffs, r.share, r.Threshold
}

// first are median and 95th percentile of the times to the first token of all rounds' requests together: those of one round are in
// two heaps, of requests that start together and of those that follow, between which a round's median falls now here, now there.
func (f *Figure) first() (p50, p95 float64) {
	var all []float64
	for i := range f.Runs {
		all = append(all, f.Runs[i].First...)
	}
	if len(all) == 0 {
		return 0, 0
	}
	slices.Sort(all)
	return median(all), quantile(all, 0.95)
}

// equalize computes Equal for steps of the given latencies and runs of so many tokens.
func (f *Figure) equalize(small, large *Latency, tokens int) {
	var list []float64
	for i := range f.Runs {
		if r := &f.Runs[i]; r.SmallSteps.Count+r.LargeSteps.Count > 0 {
			list = append(list, float64(tokens)/(small.of(r.SmallSteps)+large.of(r.LargeSteps)))
		}
	}
	if len(list) > 0 {
		f.Equal = median(list)
	}
}

// of is how long all steps take, in seconds.
func (l *Latency) of(s Steps) float64 {
	return float64(s.Count) * (l.Base + l.PerRequest*s.Requests + l.PerRow*s.Rows) / 1000
}

// conclude compares the policies with one another and with the prediction.
func (c *Case) conclude(alone *Figure) {
	lazy := c.Policies[lazyName]
	if lazy == nil {
		return
	}
	all, steady := func(r *Run) float64 { return r.All }, func(r *Run) float64 { return r.Steady }
	eager := []*Figure{c.Policies[largeFirstName], c.Policies[smallFirstName]}
	others := append([]*Figure{c.Policies[stepSyncName], c.Policies[modelSyncName]}, eager...)
	c.LazyOverEager, c.SteadyOverEager = over(lazy, eager, all), over(lazy, eager, steady)
	c.LazyOverBest, c.SteadyOverBest = over(lazy, others, all), over(lazy, others, steady)
	c.LazyOverLarge = over(lazy, []*Figure{alone}, all)
	c.EqualOverEager, c.EqualOverBest, c.EqualOverLarge = equal(lazy, eager), equal(lazy, others), equal(lazy, []*Figure{alone})
	if at := c.Prediction; at != nil {
		c.LazyOverPredicted = lazy.Equal / at.Best
	}
}

// drawn is the share of the positions as the seeds drew them, which in few answers is another than was asked for.
func (c *Case) drawn() float64 {
	for _, f := range c.Policies {
		if f.LargeShare > 0 && f.LargeShare < 1 {
			return f.LargeShare
		}
	}
	return c.Share
}

// equal is f's throughput at equal steps over the largest of the others'; 0 if there are none.
func equal(f *Figure, others []*Figure) float64 {
	most := 0.0
	for _, o := range others {
		if o != nil {
			most = max(most, o.Equal)
		}
	}
	if most == 0 {
		return 0
	}
	return f.Equal / most
}

// over is the median over the rounds of a figure of f over the largest of the others; 0 if there are none.
func over(f *Figure, others []*Figure, get func(*Run) float64) float64 {
	var ratios []float64
	for i := range f.Runs {
		most := 0.0
		for _, o := range others {
			if o != nil && i < len(o.Runs) {
				most = max(most, get(&o.Runs[i]))
			}
		}
		if most > 0 {
			ratios = append(ratios, get(&f.Runs[i])/most)
		}
	}
	if len(ratios) == 0 {
		return 0
	}
	return median(ratios)
}

func median(list []float64) float64 {
	list = slices.Clone(list)
	slices.Sort(list)
	n := len(list)
	return (list[(n-1)/2] + list[n/2]) / 2
}

// quantile of sorted figures: the smallest that at least a share q of them do not exceed.
func quantile[T any](sorted []T, q float64) T {
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}
