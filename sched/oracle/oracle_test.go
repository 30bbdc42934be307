package oracle_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/sched/oracle"
	"github.com/tokenrouter/tokenrouter/sched/simrunner"
)

func says(token int32, entropy float32) router.Row { return router.Row{Token: token, Entropy: entropy} }

// R-Stitch by hand, prompt of 2 tokens, V = 100: ln V = 4.605, so the default threshold of 0.03 is 0.138 nats.
//
//	length 2: small is unsure, its 20 is thrown away; large writes 30, unsure, and goes on
//	length 3: large writes 31, sure: kept, and back to the small one
//	length 4: small writes 22, sure
//	length 5: small is unsure again, its 23 is thrown away; large writes 33, sure, and hands back
//	length 6: small writes the end-of-sequence id 1, sure
func TestRStitchByHand(t *testing.T) {
	t.Parallel()
	small := simrunner.Script{Rows: map[int]router.Row{2: says(20, 2), 4: says(22, 0.1), 5: says(23, 0.2), 6: says(1, 0)}}
	large := simrunner.Script{Rows: map[int]router.Row{2: says(30, 0.2), 3: says(31, 0.1), 5: says(33, 0.13)}}
	a, err := oracle.Run(oracle.Route{Algorithm: "r-stitch", Models: []oracle.Model{
		{Name: "small", Runner: small, Info: small.Info(1), Text: simrunner.Text{}},
		{Name: "large", Runner: large, Info: large.Info(1)},
	}}, sched.Request{Prompt: []int32{8, 9}, Trace: true})
	require.NoError(t, err)
	require.Equal(t, []int32{30, 31, 22, 33, 1}, a.Tokens)
	var who []int
	for _, info := range a.Infos {
		who = append(who, info.Model)
	}
	require.Equal(t, []int{1, 1, 0, 1, 0}, who)
	require.Equal(t, sched.FinishStop, a.Finish)
	require.Equal(t, 2, a.Discarded)
	require.Equal(t, 4, a.Handoffs, "there and back, twice")
	h := float64(float32(0.2)) / math.Log(100)
	require.Equal(t, []sched.Discard{{Model: 0, Token: 23, Entropy: 0.2, Score: &sched.Score{Value: h, Threshold: 0.03}}}, a.Infos[3].Discarded)
	// 30, 31, 22, 33 are the pieces d and half an é, nothing, a space, b; the end is no text.
	require.Equal(t, "d\uFFFD b", a.Text)
}

func TestLimitsAndStops(t *testing.T) {
	t.Parallel()
	// Ids 16, 17, 18 are the texts a, b, c.
	m := simrunner.Script{Rows: map[int]router.Row{1: says(16, 0), 2: says(17, 0), 3: says(18, 0), 4: says(16, 0), 5: says(1, 0)},
		Default: says(16, 0)}
	for name, c := range map[string]struct {
		request sched.Request
		tokens  int
		text    string
		finish  sched.FinishReason
	}{
		"to the end":         {sched.Request{}, 5, "abca", sched.FinishStop},
		"length":             {sched.Request{MaxTokens: 2}, 2, "ab", sched.FinishLength},
		"stop across tokens": {sched.Request{Stop: []string{"bc"}}, 3, "a", sched.FinishStop},
		"first of two stops": {sched.Request{Stop: []string{"ca", "c"}}, 3, "ab", sched.FinishStop},
		"stop at the limit":  {sched.Request{Stop: []string{"b"}, MaxTokens: 2}, 2, "a", sched.FinishStop},
		"end at the limit":   {sched.Request{MaxTokens: 5}, 5, "abca", sched.FinishStop},
		"ignoring the end":   {sched.Request{MaxTokens: 6, IgnoreEnd: true}, 6, "abcaa", sched.FinishLength},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.request.Prompt = []int32{9}
			a, err := oracle.Run(oracle.Route{Algorithm: "single", Models: []oracle.Model{
				{Name: "m", Runner: m, Info: m.Info(1), Text: simrunner.Text{Special: 4}}}}, c.request)
			require.NoError(t, err)
			require.Len(t, a.Tokens, c.tokens)
			require.Equal(t, c.finish, a.Finish)
			require.Equal(t, c.text, a.Text)
		})
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	m := simrunner.Script{}
	model := oracle.Model{Name: "m", Runner: m, Info: m.Info(), Text: nil}
	_, err := oracle.Run(oracle.Route{Algorithm: "none", Models: []oracle.Model{model}}, sched.Request{Prompt: []int32{1}})
	require.ErrorContains(t, err, "unknown routing algorithm")
	_, err = oracle.Run(oracle.Route{Algorithm: "r-stitch", Models: []oracle.Model{model}}, sched.Request{Prompt: []int32{1}})
	require.ErrorContains(t, err, "routes between 2 models")
	_, err = oracle.Run(oracle.Route{Algorithm: "single", Models: []oracle.Model{model}}, sched.Request{Prompt: make([]int32, 1024)})
	require.ErrorContains(t, err, "leaves no room in 1024")
}
