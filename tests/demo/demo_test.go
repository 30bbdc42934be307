// Package demo asks the pair of models that the program carries, over HTTP as a user would, and compares every answer with a
// plain sequential loop, token by token and author by author: every algorithm, greedy and sampled, one request at a time and
// sixteen of all algorithms at once.
package demo

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tokenrouter/tokenrouter/models/catalogue"
	"github.com/tokenrouter/tokenrouter/router"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const newTokens = 80

// way is how the pair is asked: by a route of the program, with what a request says to it.
type way struct {
	target    string
	algorithm string // of the request; "": the route's
	params    router.Params
	mixed     bool // within an answer both models are expected to write
}

func (w way) String() string {
	name := w.target
	if w.algorithm != "" {
		name += " " + w.algorithm
	}
	if w.params.Strategy != "" {
		name += " " + w.params.Strategy
	}
	return name
}

func at(threshold float64) router.Params { return router.Params{Threshold: &threshold} }

func strategy(name string, p router.Params) router.Params {
	p.Strategy = name
	return p
}

// ways are those of the routes as they are, with the thresholds of their heads, and of every other algorithm. Thresholds of
// query-level routing are such that some of the questions go to either model: of most, the small model is sure how to begin.
var ways = []way{
	{target: "demo", mixed: true},
	{target: "demo-citer", mixed: true},
	{target: "demo-r2r", mixed: true},
	{target: "demo-co-llm", mixed: true},
	{target: "demo-r2r", params: strategy("entropy", router.Params{}), mixed: true},
	{target: "demo", algorithm: router.EnsembleName, params: router.Params{Weights: []float64{3, 1}}, mixed: true},
	{target: "demo", algorithm: router.RandomName, params: at(0.3), mixed: true},
	{target: "demo", algorithm: router.SpeculativeName}, // the large model's answer
	{target: "demo", algorithm: router.QueryName, params: at(0.0001)},
	{target: "demo", algorithm: router.QueryName, params: strategy("logprob", at(-0.00005))},
	{target: "demo", algorithm: router.QueryName, params: strategy("random", at(0.5))},
	{target: catalogue.DemoSmall},
	{target: catalogue.DemoLarge},
}

// sampling is how an answer's tokens are drawn.
type sampling struct {
	temperature float32
	seed        uint64
}

// ask is one request and what must come out.
type ask struct {
	way
	sampling
	prompt []int32
	want   []token
}

func TestExact(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	judge := newJudge(t)
	prompts := questions(t)
	require.Len(t, prompts, 16)
	var asks []ask
	for i, prompt := range prompts {
		for _, w := range ways {
			for _, s := range []sampling{{seed: uint64(i)}, {temperature: 1, seed: uint64(100 + i)}} {
				asks = append(asks, ask{w, s, prompt, judge.answer(t, w, s, prompt)})
			}
		}
	}
	requireVariety(t, asks)
	site := serve(t)
	for _, c := range []struct {
		clients int
		asks    []ask
	}{{1, asks[:len(asks)/4]}, {16, asks}} { // the first questions cover every way
		t.Run(fmt.Sprintf("%d at once", c.clients), func(t *testing.T) {
			got, errs := make([][]token, len(c.asks)), make([]error, len(c.asks))
			next := make(chan int)
			var clients sync.WaitGroup
			for range c.clients {
				clients.Go(func() {
					for i := range next {
						got[i], errs[i] = site.ask(c.asks[i])
					}
				})
			}
			for i := range c.asks {
				next <- i
			}
			close(next)
			clients.Wait()
			for i, a := range c.asks {
				require.NoError(t, errs[i], "%s %+v", a.way, a.sampling)
				require.Equal(t, a.want, got[i], "%s %+v", a.way, a.sampling)
			}
		})
	}
	site.close(t)
}

// requireVariety checks that the comparison says something: in every way that is meant to, both models write, and where one
// writes the whole answer, each does so for some questions.
func requireVariety(t *testing.T, asks []ask) {
	t.Helper()
	both, whole := map[string]int{}, map[string]map[string]int{}
	var speculative, large [][]token
	for _, a := range asks {
		counts := map[string]int{}
		for _, token := range a.want {
			counts[token.Model]++
		}
		name := a.way.String()
		if whole[name] == nil {
			whole[name] = map[string]int{}
		}
		switch {
		case a.algorithm == router.SpeculativeName:
			speculative = append(speculative, a.want)
		case a.target == catalogue.DemoLarge:
			large = append(large, a.want)
		}
		if len(counts) > 1 {
			both[name]++
		} else {
			whole[name][a.want[0].Model]++
		}
	}
	t.Logf("answers by both models: %v; by one: %v", both, whole)
	require.Equal(t, large, speculative)
	for _, w := range ways {
		name := w.String()
		switch {
		case w.mixed:
			require.Greater(t, both[name], 4, name)
		case w.algorithm == router.QueryName:
			require.Zero(t, both[name], name)
			require.Len(t, whole[name], 2, name)
		case w.algorithm == router.SpeculativeName:
			require.Equal(t, map[string]int{catalogue.DemoLarge: 32}, whole[name])
		default:
			require.Equal(t, map[string]int{w.target: 32}, whole[name])
		}
	}
}
