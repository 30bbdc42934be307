package exactness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// token is one token of an answer and who wrote it.
type token struct {
	ID    int32
	Model string
}

// completion is what the test reads of an answer.
type completion struct {
	Routing struct {
		Trace []token        `json:"trace"` // field names match without regard to case
		Count map[string]int `json:"tokens"`
	} `json:"routing"`
	Usage struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
	} `json:"usage"`
}

// ask sends one prompt and returns the tokens of its answer.
func (s *site) ask(prompt []int32, terms sampling, tokens int) ([]token, error) {
	body, err := json.Marshal(map[string]any{
		"model": s.lineup.target(), "prompt": prompt, "max_tokens": tokens, "temperature": terms.temperature, "seed": terms.seed,
		"routing": map[string]any{"trace": true},
	})
	if err != nil {
		return nil, err
	}
	response, err := http.Post(s.url+"/v1/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d: %s", response.StatusCode, text)
	}
	var c completion
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, err
	}
	counted := 0
	for _, name := range s.lineup.names() {
		counted += c.Routing.Count[name]
	}
	switch got := len(c.Routing.Trace); {
	case c.Usage.PromptTokens != len(prompt):
		return nil, fmt.Errorf("usage counts %d prompt tokens, %d were sent", c.Usage.PromptTokens, len(prompt))
	case c.Usage.CompletionTokens != got:
		return nil, fmt.Errorf("usage counts %d tokens, the trace has %d", c.Usage.CompletionTokens, got)
	case counted != got:
		return nil, fmt.Errorf("counts by model are %v, the trace has %d tokens", c.Routing.Count, got)
	}
	return c.Routing.Trace, nil
}

// compare asks the cell's questions, as many at a time as it says, and compares every answer.
func compare(t *testing.T, s *site, c cell, prompts [][]int32, ids []int, tokens int, expected answers) {
	t.Helper()
	got := make([][]token, len(ids))
	errs := make([]error, len(ids))
	next := make(chan int)
	var clients sync.WaitGroup
	for range c.concurrency {
		clients.Go(func() {
			for i := range next {
				got[i], errs[i] = s.ask(prompts[ids[i]], terms(ids[i], c.sampled), tokens)
			}
		})
	}
	for i := range ids {
		next <- i
	}
	close(next)
	clients.Wait()
	for i, id := range ids {
		require.NoError(t, errs[i], "prompt %d", id)
		want := expected.of(id, c.sampled)
		require.Equal(t, want[:min(tokens, len(want))], got[i], "prompt %d", id)
	}
}
