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
type answers struct {
	greedy, sampled [][]token
	entry           string
}

func (a answers) of(prompt int, sampled bool) []token {
	if sampled {
		return a.sampled[prompt]
	}
	return a.greedy[prompt]
}

func (a answers) count() (total, handed int) {
	for _, set := range [][][]token{a.greedy, a.sampled} {
		for _, answer := range set {
			for _, t := range answer {
				total++
				if t.Model != a.entry {
					handed++
				}
			}
		}
	}
	return total, handed
}

// share is the part of the tokens that the entry did not write.
func (a answers) share() float64 {
	total, handed := a.count()
	return float64(handed) / float64(total)
}

func (a answers) account() string {
	total, handed := a.count()
	return fmt.Sprintf("%d answers, %d tokens, %d (%.1f%%) by the second model", len(a.greedy)+len(a.sampled), total, handed, 100*a.share())
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
func sequential(t *testing.T, l lineup, prompts [][]int32, tokens int) answers {
	t.Helper()
	const context = 1024
	device, err := sched.OpenNativeDevice(sched.NativeOptions{})
	require.NoError(t, err)
	limit := threshold
	route := oracle.Route{Algorithm: router.SingleName}
	if len(l.members) > 1 {
		route = oracle.Route{Algorithm: router.RStitchName, Params: router.Params{Threshold: &limit}}
	}
	var closers []func() error
	for _, m := range l.members {
		model, err := device.LoadModel(m.path, nil)
		require.NoError(t, err)
		runner, err := model.NewRunner(sched.NativeLimits{Pages: context / 32})
		require.NoError(t, err)
		info := runner.Info()
		info.MaxContext = context
		info.EndIDs = l.endIDs
		route.Models = append(route.Models, oracle.Model{Name: m.name, Runner: runner, Info: info})
		closers = append(closers, runner.Close, model.Close)
	}
	out := answers{entry: l.members[0].name}
	for i, prompt := range prompts {
		for _, sampled := range []bool{false, true} {
			s := terms(i, sampled)
			a, err := oracle.Run(route, sched.Request{Prompt: prompt, MaxTokens: tokens,
				Sampling: sched.Sampling{Temperature: s.temperature, Seed: s.seed}})
			require.NoError(t, err, "prompt %d", i)
			answer := make([]token, len(a.Tokens))
			for j, id := range a.Tokens {
				answer[j] = token{id, route.Models[a.Infos[j].Model].Name}
			}
			if sampled {
				out.sampled = append(out.sampled, answer)
			} else {
				out.greedy = append(out.greedy, answer)
			}
		}
	}
	for _, c := range append(closers, device.Close) {
		require.NoError(t, c())
	}
	return out
}
