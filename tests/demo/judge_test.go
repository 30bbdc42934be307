package demo

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/models"
	"github.com/tokenrouter/tokenrouter/models/catalogue"
	"github.com/tokenrouter/tokenrouter/models/chat"
	"github.com/tokenrouter/tokenrouter/models/heads"
	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/sched/oracle"
)

// token is one token of an answer and who wrote it.
type token struct {
	ID    int32
	Model string
}

// questions are problems of the validation split, one of each of 16 families, as the small model reads them.
func questions(t *testing.T) [][]int32 {
	t.Helper()
	text, err := os.ReadFile("testdata/questions.json")
	require.NoError(t, err)
	var all []string
	require.NoError(t, json.Unmarshal(text, &all))
	m, _ := carried(t, catalogue.DemoSmall)
	var prompts [][]int32
	for _, q := range all {
		prompt, err := m.Prompt(chat.Request{Messages: []chat.Message{chat.User(q)}})
		require.NoError(t, err)
		prompts = append(prompts, prompt)
	}
	return prompts
}

// carried is a model of the program, and its file.
func carried(t *testing.T, name string) (*models.Model, string) {
	t.Helper()
	path, err := catalogue.CarriedFile(name)
	require.NoError(t, err)
	m, err := models.Open(path)
	require.NoError(t, err)
	return m, path
}

// judge answers with the oracle: one request, one step at a time.
type judge struct{ routes map[string]oracle.Route }

// newJudge loads the pair, and its heads, each with the threshold that its file recommends.
func newJudge(t *testing.T) *judge {
	t.Helper()
	device, err := sched.OpenNativeDevice(sched.NativeOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, device.Close()) })
	var pair []oracle.Model
	var end []int32
	var entry *sched.NativeModel
	for _, name := range []string{catalogue.DemoSmall, catalogue.DemoLarge} {
		file, path := carried(t, name)
		end = append(end, file.EndIDs()...)
		model, err := device.LoadModel(path, nil)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, model.Close()) })
		runner, err := model.NewRunner(sched.NativeLimits{Pages: 512 / 32})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, runner.Close()) })
		info := runner.Info()
		info.MaxContext = file.Info().ContextLength
		pair = append(pair, oracle.Model{Name: name, Runner: runner, Info: info})
		if entry == nil {
			entry = model
		}
	}
	for i := range pair {
		pair[i].Info.EndIDs = end
	}
	demo := 0.025 // of models/pair/MODEL.md
	j := &judge{routes: map[string]oracle.Route{
		"demo":              {Algorithm: router.RStitchName, Params: router.Params{Threshold: &demo}, Models: pair},
		catalogue.DemoSmall: {Algorithm: router.SingleName, Models: pair[:1]},
		catalogue.DemoLarge: {Algorithm: router.SingleName, Models: pair[1:]},
	}}
	for _, name := range catalogue.Heads() {
		path, err := catalogue.Head(name)
		require.NoError(t, err)
		header, err := heads.Open(path)
		require.NoError(t, err)
		head, err := entry.LoadHead(path)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, head.Close()) })
		j.routes[name] = oracle.Route{Algorithm: header.Algorithm, Params: router.Params{Threshold: header.Threshold}, Models: pair, Head: head}
	}
	return j
}

func (j *judge) answer(t *testing.T, w way, s sampling, prompt []int32) []token {
	t.Helper()
	route := j.routes[w.target]
	a, err := oracle.Run(route, sched.Request{Prompt: prompt, MaxTokens: newTokens, Algorithm: w.algorithm, Params: w.params,
		Sampling: sched.Sampling{Temperature: s.temperature, Seed: s.seed}})
	require.NoError(t, err, w)
	tokens := make([]token, len(a.Tokens))
	for i, id := range a.Tokens {
		tokens[i] = token{id, route.Models[a.Infos[i].Model].Name}
	}
	return tokens
}
