package exactness

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/sched/oracle"
	"github.com/tokenrouter/tokenrouter/tests/internal/realmodels"
)

// sampling is how a prompt's tokens are drawn.
type sampling struct {
	temperature float32
	seed        uint64
}

// terms are those of a prompt: greedy, or at temperature 0.8 with a seed of its own.
func terms(prompt int, sampled bool) sampling {
	if !sampled {
		return sampling{seed: 1}
	}
	return sampling{temperature: 0.8, seed: 1000 + uint64(prompt)}
}

// answers are what must come out.
type answers struct{ greedy, sampled [][]token }

func (a answers) of(prompt int, sampled bool) []token {
	if sampled {
		return a.sampled[prompt]
	}
	return a.greedy[prompt]
}

func (a answers) count() (total, large int) {
	for _, set := range [][][]token{a.greedy, a.sampled} {
		for _, answer := range set {
			for _, t := range answer {
				total++
				if t.Model == realmodels.Large {
					large++
				}
			}
		}
	}
	return total, large
}

func (a answers) largeShare() float64 {
	total, large := a.count()
	return float64(large) / float64(total)
}

func (a answers) account() string {
	total, large := a.count()
	return fmt.Sprintf("%d answers, %d tokens, %d (%.1f%%) by the large model", len(a.greedy)+len(a.sampled), total, large, 100*a.largeShare())
}

// readPrompts reads the texts that the test asks.
func readPrompts(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../testdata/prompts.json")
	require.NoError(t, err)
	var prompts []string
	require.NoError(t, json.Unmarshal(text, &prompts))
	return prompts
}

// sequential answers every prompt twice, greedily and sampled, with the oracle: one request, one step at a time.
func sequential(t *testing.T, p pair, prompts [][]int32) answers {
	t.Helper()
	const context = 1024
	device, err := sched.OpenNativeDevice(sched.NativeOptions{})
	require.NoError(t, err)
	limit := threshold
	route := oracle.Route{Algorithm: router.RStitchName, Params: router.Params{Threshold: &limit}}
	var closers []func() error
	for _, m := range []struct{ name, path string }{{realmodels.Small, p.small}, {realmodels.Large, p.large}} {
		model, err := device.LoadModel(m.path, nil)
		require.NoError(t, err)
		runner, err := model.NewRunner(sched.NativeLimits{Pages: context / 32})
		require.NoError(t, err)
		info := runner.Info()
		info.MaxContext = context
		info.EndIDs = p.endIDs
		route.Models = append(route.Models, oracle.Model{Name: m.name, Runner: runner, Info: info})
		closers = append(closers, runner.Close, model.Close)
	}
	var out answers
	for i, prompt := range prompts {
		for _, sampled := range []bool{false, true} {
			s := terms(i, sampled)
			a, err := oracle.Run(route, sched.Request{Prompt: prompt, MaxTokens: newTokens,
				Sampling: sched.Sampling{Temperature: s.temperature, Seed: s.seed}})
			require.NoError(t, err, "prompt %d", i)
			tokens := make([]token, len(a.Tokens))
			for j, id := range a.Tokens {
				tokens[j] = token{id, route.Models[a.Infos[j].Model].Name}
			}
			if sampled {
				out.sampled = append(out.sampled, tokens)
			} else {
				out.greedy = append(out.greedy, tokens)
			}
		}
	}
	for _, c := range append(closers, device.Close) {
		require.NoError(t, c())
	}
	return out
}
