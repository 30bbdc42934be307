package sched_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/bindings"
	"github.com/tokenrouter/tokenrouter/internal/tinygguf"
	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/sched/oracle"
	"github.com/tokenrouter/tokenrouter/sched/simrunner"
)

// nativeHead loads a head that is closed with the test.
func nativeHead(t *testing.T, m *sched.NativeModel, path string) *sched.NativeHead {
	t.Helper()
	h, err := m.LoadHead(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	return h
}

// randomHead is a linear head whose scores spread over both sides of 0.
func randomHead(t *testing.T, seed uint64, algorithm string) string {
	r := rand.New(rand.NewPCG(seed, 5))
	weight := make([]float32, 64)
	for i := range weight {
		weight[i] = float32(r.NormFloat64() / 4)
	}
	return tinygguf.TempHead(t, tinygguf.Head{Weight: weight, Threshold: 0.5, Algorithm: algorithm})
}

// Learned routes on real forward passes and real heads, sixteen requests at once and one at a time: every answer is the oracle's.
// Heads of two kinds, one of them shared by two routes, and rows without one share batches.
func TestNativeHeadsAreExactInTheEngine(t *testing.T) {
	models := map[string]*sched.NativeModel{
		"small": nativeModel(t, tinygguf.Options{Seed: 1, Weights: tinygguf.Q8_0}),
		"large": nativeModel(t, tinygguf.Options{Seed: 2, Weights: tinygguf.Q8_0, Layers: 3, Embd: 96, Heads: 6}),
	}
	shared := nativeHead(t, models["small"], randomHead(t, 1, ""))
	pair := []string{"small", "large"}
	half := router.Params{Threshold: ptr(0.5)}
	routes := []sched.RouteOptions{
		{Name: "citer", Algorithm: router.CITERName, Models: pair, Params: half, Head: shared},
		{Name: "co-llm", Algorithm: router.CoLLMName, Models: pair, Params: half, Head: shared},
		{Name: "r2r", Algorithm: router.R2RName, Models: pair, Params: half, Head: nativeHead(t, models["small"], tinygguf.TempResidualHead(t, tinygguf.ResidualHead{Seed: 3}))},
		{Name: "stitch", Algorithm: router.RStitchName, Models: pair, Params: router.Params{Threshold: ptr(0.7)}},
	}
	var requests []sched.Request
	want := make([]oracle.Answer, 32)
	written := map[string][2]int{}
	for i := range want {
		route := routes[i%len(routes)]
		r := sched.Request{ID: fmt.Sprint("r", i), Target: route.Name, Prompt: numbers(i, 4+3*i), MaxTokens: 24, IgnoreEnd: true}
		if i/len(routes)%2 == 1 {
			r.Sampling = sched.Sampling{Temperature: 0.9, TopP: 0.95, Seed: uint64(i)}
		}
		if i >= 16 && route.Head != nil {
			r.Params.Threshold = ptr([]float64{0.3, 0.6}[i/len(routes)%2])
		}
		requests = append(requests, r)
		o := oracle.Route{Algorithm: route.Algorithm, Params: route.Params, Head: route.Head}
		for _, name := range pair {
			runner := nativeRunner(t, models[name], sched.NativeLimits{Pages: 12})
			o.Models = append(o.Models, oracle.Model{Name: name, Runner: runner, Info: runner.Info()})
		}
		var err error
		want[i], err = oracle.Run(o, r)
		require.NoError(t, err)
		w := written[route.Name]
		for _, info := range want[i].Infos {
			w[info.Model]++
		}
		written[route.Name] = w
	}
	t.Logf("tokens of the small and the large model: %v", written)
	for name, w := range written {
		require.Greater(t, w[0], 10, name)
		require.Greater(t, w[1], 10, name)
	}

	for _, concurrent := range []int{1, 16} {
		t.Run(fmt.Sprintf("%d at once", concurrent), func(t *testing.T) {
			options := sched.Options{Routes: routes, MaxQueue: len(requests)}
			for _, name := range pair {
				r, err := models[name].NewRunner(sched.NativeLimits{Pages: 200})
				require.NoError(t, err)
				options.Models = append(options.Models, sched.ModelOptions{Name: name, Runner: r, Info: r.Info()})
			}
			e, err := sched.NewEngine(options)
			require.NoError(t, err)
			requireAnswers(t, e, requests, want, concurrent)
		})
	}
}

func TestNativeHead(t *testing.T) {
	small, other := nativeModel(t, tinygguf.Options{}), nativeModel(t, tinygguf.Options{Embd: 96, Heads: 6})
	h, err := small.LoadHead(tinygguf.TempResidualHead(t, tinygguf.ResidualHead{Threshold: 0.25}))
	require.NoError(t, err)
	require.Equal(t, "r2r", h.Algorithm())
	require.Equal(t, 10, h.Top())
	require.Equal(t, "residual", h.Info().Kind)
	require.InDelta(t, 0.25, h.Info().Threshold, 0)

	r := nativeRunner(t, small, sched.NativeLimits{Pages: 2})
	require.NoError(t, r.CheckHead(h))
	require.ErrorContains(t, nativeRunner(t, other, sched.NativeLimits{Pages: 2}).CheckHead(h), "loaded for another model")
	require.ErrorContains(t, r.CheckHead(simrunner.Head{}), "it is a simrunner.Head, expected a head that NativeModel.LoadHead gave")
	row := sched.Row{Sampling: &sched.Sampling{}, Head: h, Needs: router.Needs{Top: 10}}
	require.NotZero(t, step(t, r, numbers(1, 9), row).HeadLogit)
	row.Head = nil
	require.Zero(t, step(t, r, numbers(1, 9), row).HeadLogit)
	err = r.Step(&sched.Batch{Segments: []sched.Segment{{Tokens: []int32{1}, Pages: []int32{0}}}, Rows: []sched.Row{{Head: simrunner.Head{}}}})
	require.ErrorContains(t, err, "row 0: its router head is a simrunner.Head")

	require.ErrorIs(t, small.Close(), bindings.ErrInUse)
	require.NoError(t, h.Close())

	_, err = other.LoadHead(randomHead(t, 1, ""))
	require.ErrorContains(t, err, "made for another model")
	_, err = small.LoadHead(tinygguf.Temp(t, tinygguf.Options{}))
	require.ErrorContains(t, err, `the file is of architecture "qwen2", expected "router-head"`)
}
