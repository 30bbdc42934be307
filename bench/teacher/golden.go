package teacher

import (
	"encoding/json"
	"fmt"
	"os"
)

// Golden is what another engine answered, greedily, to some prompts.
type Golden struct {
	Origin string              `json:"origin"`
	Models map[string][]Answer `json:"models"`
}

// Answer is one prompt with the tokens chosen after it.
type Answer struct {
	Prompt    string  `json:"prompt"`
	PromptIDs []int32 `json:"prompt_ids"`
	Steps     []Step  `json:"steps"`
}

// Step is one chosen token and the distribution that it was chosen from.
type Step struct {
	ID          int32     `json:"id"`
	LogProb     float64   `json:"logprob"` // base e, over the whole vocabulary
	TopIDs      []int32   `json:"top_ids"` // most likely first
	TopLogProbs []float64 `json:"top_logprobs"`
}

// Margin is by how many nats the best id beats the second.
func (s Step) Margin() float64 { return s.TopLogProbs[0] - s.TopLogProbs[1] }

// Sequence is the prompt and all chosen tokens but the last: what a forward pass reads to predict every chosen token.
func (a Answer) Sequence() []int32 {
	ids := append([]int32(nil), a.PromptIDs...)
	for _, s := range a.Steps[:len(a.Steps)-1] {
		ids = append(ids, s.ID)
	}
	return ids
}

// Load reads a golden file and checks that it can be used: every answer has a prompt and steps, every step at least the
// two most likely ids.
func Load(path string) (*Golden, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("golden answers: %w", err)
	}
	var g Golden
	if err := json.Unmarshal(text, &g); err != nil {
		return nil, fmt.Errorf("golden answers %s: %w", path, err)
	}
	for model, answers := range g.Models {
		for i, a := range answers {
			if len(a.PromptIDs) == 0 || len(a.Steps) == 0 {
				return nil, fmt.Errorf("golden answers %s: %s, answer %d: expected a prompt and steps, found %d ids and %d steps",
					path, model, i, len(a.PromptIDs), len(a.Steps))
			}
			for j, s := range a.Steps {
				if len(s.TopIDs) < 2 || len(s.TopIDs) != len(s.TopLogProbs) {
					return nil, fmt.Errorf("golden answers %s: %s, answer %d, step %d: expected two or more likely ids with as many log-probabilities",
						path, model, i, j)
				}
			}
		}
	}
	return &g, nil
}
