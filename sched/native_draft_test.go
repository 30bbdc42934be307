package sched_test

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/internal/tinygguf"
	"github.com/tokenrouter/tokenrouter/models/gguf"
	"github.com/tokenrouter/tokenrouter/models/quantize"
	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
)

// relatives are a model, and one that mostly agrees with it: the same, with weights of 4 bits.
func relatives(t *testing.T) (small, large *sched.NativeModel) {
	t.Helper()
	path, fewer := tinygguf.Temp(t, tinygguf.Options{Seed: 5}), filepath.Join(t.TempDir(), "small.gguf")
	f, err := gguf.Open(path)
	require.NoError(t, err)
	to, err := quantize.ParseType("Q4_0")
	require.NoError(t, err)
	converter, err := sched.OpenNativeConverter("")
	require.NoError(t, err)
	_, err = quantize.File(t.Context(), fewer, f, to, converter, nil)
	require.NoError(t, err)
	d, err := sched.OpenNativeDevice(sched.NativeOptions{Threads: 2})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	load := func(path string) *sched.NativeModel {
		m, err := d.LoadModel(path, nil)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, m.Close()) })
		return m
	}
	return load(fewer), load(path)
}

// speculating is an engine in which the small model drafts for the large one.
func speculating(t *testing.T, small, large *sched.NativeModel, adjust func(*sched.Options)) (*sched.Engine, *journal) {
	t.Helper()
	seen := &journal{}
	o := sched.Options{
		Routes:   []sched.RouteOptions{{Name: "drafts", Algorithm: router.SpeculativeName, Models: []string{"small", "large"}}},
		MaxQueue: 1 << 20, Observer: seen.observer(),
	}
	for name, m := range map[string]*sched.NativeModel{"small": small, "large": large} {
		r, err := m.NewRunner(sched.NativeLimits{Pages: 160, MaxRows: 150})
		require.NoError(t, err)
		o.Models = append(o.Models, sched.ModelOptions{Name: name, Runner: r, Info: r.Info()})
	}
	if adjust != nil {
		adjust(&o)
	}
	e, err := sched.NewEngine(o)
	require.NoError(t, err)
	return e, seen
}

// On real forward passes: the rows of a span are bit for bit those of one step a token, whatever was batched, chunked or evicted.
func TestNativeDraftsAreExact(t *testing.T) {
	small, large := relatives(t)
	var requests []sched.Request
	for _, r := range nativeRequests() {
		r.Target, r.Params = "drafts", router.Params{Draft: ptr(1 + len(r.Prompt)%7)}
		requests = append(requests, r)
	}
	type told struct {
		token            int32
		logprob, entropy float32
		top              []float32
	}
	tell := func(a answer) (all []told) {
		for i, info := range a.Infos {
			all = append(all, told{a.Tokens[i], info.LogProb, info.Entropy, info.TopLogProbs})
		}
		return all
	}
	for name, c := range map[string]struct {
		pages, chunk, concurrent int
	}{
		"one at a time": {64, 512, 1}, "all at once": {256, 512, len(requests)}, "small chunks": {256, 3, len(requests)}, "hardly any memory": {7, 16, len(requests)},
	} {
		t.Run(name, func(t *testing.T) {
			e, seen := speculating(t, small, large, func(o *sched.Options) {
				o.PrefillChunk, o.MaxLive = c.chunk, c.concurrent
				for i := range o.Models {
					o.Models[i].Info.Pages = min(c.pages, o.Models[i].Info.Pages)
				}
			})
			ask := func(target string) (out []answer) {
				var streams []*sched.Stream
				for _, r := range requests {
					r.ID = target + r.ID
					if target == "large" {
						r.Target, r.Params = target, router.Params{}
					}
					s, err := e.Submit(t.Context(), r)
					require.NoError(t, err)
					streams = append(streams, s)
				}
				for _, s := range streams {
					out = append(out, read(t, s))
				}
				return out
			}
			alone, drafted := ask("large"), ask("drafts")
			require.NoError(t, e.Close(context.Background()))
			for i := range alone {
				require.Equal(t, tell(alone[i]), tell(drafted[i]), "request %d", i)
				require.Equal(t, alone[i].Finish, drafted[i].Finish)
			}
			accepted, rejected, evicted := 0, 0, 0
			for _, b := range seen.batches {
				accepted, rejected, evicted = accepted+b.Accepted, rejected+b.Rejected, evicted+b.Evicted
			}
			t.Logf("%d drafts accepted, %d rejected, %d evictions", accepted, rejected, evicted)
			require.Greater(t, accepted, 50)
			require.Greater(t, rejected, 50)
			require.Equal(t, c.pages == 7, evicted > 0)
		})
	}
}

// The tokens of 20,000 answers with seeds of their own have the large model's distribution. Three tokens, each one of the three
// likeliest: the first is the large model's, the others are drafted and judged. The 27 probabilities are worked out from the
// large model's logits. Chi-square, 26 degrees of freedom: above 62 once in 10,000.
func TestNativeDraftsHaveTheLargeModelsDistribution(t *testing.T) {
	small, large := relatives(t)
	const answers, kinds, temperature = 20_000, 3, 1.5
	prompt := numbers(3, 6)
	want := map[[3]int32]float64{}
	runner := nativeRunner(t, large, sched.NativeLimits{Pages: 1})
	next := func(tokens ...int32) ([]int32, []float64) {
		out := step(t, runner, slices.Concat(prompt, tokens), sched.Row{Needs: router.Needs{Top: kinds}, Vocab: 300})
		p, sum := make([]float64, kinds), 0.0
		for i, logit := range out.TopLogits {
			p[i] = math.Exp(float64(logit-out.TopLogits[0]) / temperature)
			sum += p[i]
		}
		for i := range p {
			p[i] /= sum
		}
		return out.TopIDs, p
	}
	first, p := next()
	for i, a := range first {
		second, q := next(a)
		for j, b := range second {
			third, r := next(a, b)
			for k, c := range third {
				want[[3]int32{a, b, c}] = answers * p[i] * q[j] * r[k]
			}
		}
	}

	e, _ := speculating(t, small, large, nil)
	got := map[[3]int32]float64{}
	drafted, accepted := 0, 0
	for from := 0; from < answers; from += 1000 {
		var streams []*sched.Stream
		for i := range 1000 {
			s, err := e.Submit(t.Context(), sched.Request{Target: "drafts", Prompt: prompt, MaxTokens: 3, IgnoreEnd: true,
				Sampling: sched.Sampling{Temperature: temperature, TopK: kinds, Seed: uint64(from + i)}})
			require.NoError(t, err)
			streams = append(streams, s)
		}
		for _, s := range streams {
			a := read(t, s)
			got[[3]int32(a.Tokens)]++
			drafted, accepted = drafted+a.Drafted, accepted+a.Accepted
		}
	}
	require.NoError(t, e.Close(context.Background()))
	chi := 0.0
	for tokens, n := range want {
		chi += (got[tokens] - n) * (got[tokens] - n) / n
		delete(got, tokens)
	}
	t.Logf("chi-square %.1f; %d of %d drafts accepted", chi, accepted, drafted)
	require.Empty(t, got, "tokens that the large model does not write")
	require.Less(t, chi, 62.0)
	require.Equal(t, answers, drafted)
	require.Greater(t, accepted, answers/5)
	require.Less(t, accepted, answers*19/20)
}
