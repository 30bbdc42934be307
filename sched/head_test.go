package sched_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/sched/simrunner"
)

// learnedRoutes are routes that decide by a head: two by the same one, the others by one each.
func learnedRoutes() []sched.RouteOptions {
	pair := []string{"small", "large"}
	return []sched.RouteOptions{
		{Name: "citer", Algorithm: router.CITERName, Models: pair, Params: router.Params{Threshold: ptr(0.4)}, Head: simrunner.Head{Seed: 1}},
		{Name: "r2r", Algorithm: router.R2RName, Models: pair, Head: simrunner.Head{Seed: 2, Largest: 110, For: router.R2RName}},
		{Name: "co-llm", Algorithm: router.CoLLMName, Models: pair, Params: router.Params{Threshold: ptr(0.7)}, Head: simrunner.Head{Seed: 1}},
		{Name: "query-head", Algorithm: router.QueryName, Models: pair, Params: router.Params{Strategy: "head"}, Head: simrunner.Head{Seed: 3}},
	}
}

var learned = []string{"citer", "r2r", "co-llm", "query-head"}

// Every learned algorithm gives the oracle's tokens, greedy and seeded, with the route's threshold and with the request's, one request
// at a time and sixteen whose heads differ, beside some that have none.
func TestLearnedAlgorithmsAreExact(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 16} {
		t.Run(fmt.Sprintf("%d clients", n), func(t *testing.T) {
			t.Parallel()
			l := newLab(t, models(), nil)
			defer l.close(t)
			var jobs []job
			for i := range 16 {
				for _, target := range append([]string{"small", "stitch"}, learned...) {
					r := sched.Request{ID: fmt.Sprint(target, i), Target: target, Prompt: numbers(i, 5+3*i), MaxTokens: 30, IgnoreEnd: true, Trace: true}
					if i%2 == 1 {
						r.Sampling = sched.Sampling{Temperature: 0.8, Seed: uint64(i)}
					}
					if i%4 >= 2 {
						r.Params.Threshold = ptr(0.2 + 0.04*float64(i))
						if target == "small" {
							r.Params = router.Params{}
						}
					}
					jobs = append(jobs, job{request: r})
				}
			}
			_, err := l.drive(jobs, n)
			require.NoError(t, err)
			written := map[string][2]int{}
			for _, j := range jobs {
				w := written[j.request.Target]
				for _, info := range j.answer.Infos {
					w[info.Model]++
				}
				written[j.request.Target] = w
			}
			t.Logf("tokens of the small and the large model: %v", written)
			for _, target := range learned {
				require.Greater(t, written[target][0], 50, target)
				require.Greater(t, written[target][1], 50, target)
			}
		})
	}
}

// A threshold at either end leaves all to one model, whatever the head says.
func TestThresholdOfARequestOverridesTheHeads(t *testing.T) {
	t.Parallel()
	l := newLab(t, models(), nil)
	defer l.close(t)
	for _, c := range []struct {
		target    string
		threshold float64
		model     int
	}{
		{"citer", 0, 0}, {"citer", 1, 1}, {"r2r", 0, 1}, {"r2r", 1, 0}, {"co-llm", 0, 1}, {"co-llm", 1, 0}, {"query-head", 0, 1}, {"query-head", 1, 0},
	} {
		a := l.ask(t, sched.Request{Target: c.target, Prompt: numbers(1, 9), MaxTokens: 20, IgnoreEnd: true,
			Params: router.Params{Threshold: &c.threshold}})
		for _, info := range a.Infos {
			require.Equal(t, c.model, info.Model, "%s with a threshold of %g", c.target, c.threshold)
		}
		require.Len(t, a.Infos, 20)
	}
}

func TestHeadsOfRequests(t *testing.T) {
	t.Parallel()
	l := newLab(t, models(), nil)
	defer l.close(t)
	ask := func(target, algorithm string) error {
		_, err := l.engine.Submit(t.Context(), sched.Request{Target: target, Prompt: []int32{1}, Algorithm: algorithm, MaxTokens: 1})
		return err
	}
	require.NoError(t, ask("citer", router.CoLLMName), "a head that does not say what it was made for")
	require.NoError(t, ask("r2r", router.RStitchName), "an algorithm that needs no head")
	for want, err := range map[string]error{
		`the router head of "r2r" was made for algorithm "r2r", whose scores mean something else to "citer"`: ask("r2r", router.CITERName),
		`algorithm "citer" needs a router head for model "small", and "stitch" has none`:                     ask("stitch", router.CITERName),
		`algorithm "test-second-head" needs a router head for model "large": only the entry`:                 ask("citer", "test-second-head"),
	} {
		require.ErrorIs(t, err, sched.ErrInvalid)
		require.ErrorContains(t, err, want)
		var head *sched.HeadError
		require.ErrorAs(t, err, &head)
	}
}

func TestHeadsOfRoutes(t *testing.T) {
	t.Parallel()
	bare := struct{ sched.Runner }{simrunner.New(simrunner.Model{})} // knows of no heads
	for want, c := range map[string]struct {
		algorithm string
		strategy  string
		head      sched.Head
		runner    sched.Runner
	}{
		`route "r": algorithm "r2r" needs a router head for model "a", and "r" has none: give the route a head`: {algorithm: "r2r"},
		`route "r": algorithm "r-stitch" needs no router head, and one is given: leave it out`:                  {algorithm: "r-stitch", head: simrunner.Head{}},
		`route "r": algorithm "r2r" needs no router head`:                                                       {algorithm: "r2r", strategy: "entropy", head: simrunner.Head{}},
		`was made for algorithm "citer", whose scores mean something else to "r2r"`:                             {algorithm: "r2r", head: simrunner.Head{For: "citer"}},
		`the runner of model "a" scores by no router head`:                                                      {algorithm: "r2r", head: simrunner.Head{}, runner: bare},
		`router head for model "a": a simulated runner scores by no *sched.NativeHead`:                          {algorithm: "r2r", head: &sched.NativeHead{}},
	} {
		if c.runner == nil {
			c.runner = simrunner.New(simrunner.Model{})
		}
		m := simrunner.Model{}
		_, err := sched.NewEngine(sched.Options{
			Models: []sched.ModelOptions{{Name: "a", Runner: c.runner, Info: m.Info()}, {Name: "b", Runner: simrunner.New(m), Info: m.Info()}},
			Routes: []sched.RouteOptions{{Name: "r", Algorithm: c.algorithm, Models: []string{"a", "b"}, Params: router.Params{Strategy: c.strategy}, Head: c.head}},
		})
		require.ErrorContains(t, err, want)
	}
}
