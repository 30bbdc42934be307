// Package collect gathers what routers are trained on: what a small model knows at every position of a large model's answer,
// what it would have written there, and whether that would have spoiled the result. docs/training.md says what a file has.
package collect

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tokenrouter/tokenrouter/models"
	"github.com/tokenrouter/tokenrouter/models/chat"
	"github.com/tokenrouter/tokenrouter/models/tokenizer"
	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
)

// Prompt is a line of a prompt set: a conversation, or one message of a user.
type Prompt struct {
	Prompt   string         `json:"prompt"`
	Messages []chat.Message `json:"messages"`
	Answer   string         `json:"answer"` // a text whose last number is the right result; "": not known
}

// ParsePrompt reads a line of a prompt set.
func ParsePrompt(line []byte) (Prompt, error) {
	var p Prompt
	if err := json.Unmarshal(line, &p); err != nil {
		return p, fmt.Errorf("expected a JSON object with prompt or messages: %w", err)
	}
	if (p.Prompt == "") == (len(p.Messages) == 0) {
		return p, errors.New("expected either a prompt or messages")
	}
	if p.Prompt != "" {
		p.Messages = []chat.Message{{Role: "user", Content: chat.Text(p.Prompt)}}
	}
	return p, nil
}

// Who finishes an answer after a token of the small model that the large one would not have written.
const (
	RolloutNone  = "none"
	RolloutSmall = "small" // as CITER does in its first round
	RolloutLarge = "large" // as R2R does: only tokens that the large model cannot mend are bad
)

// Options of a collection.
type Options struct {
	Top       int    // logits that are kept of each position
	MaxTokens int    // of an answer
	Rollouts  string // Rollout*
}

// Model is one of the pair.
type Model struct {
	Text   *models.Model
	Native *sched.NativeModel
}

// Collector works on one prompt at a time.
type Collector struct {
	options      Options
	text         *models.Model
	small, large *sequence
	end          []int32
	width        int
}

// New makes a collector for two models of one vocabulary. Close frees it, before the models.
func New(small, large Model, o Options) (*Collector, error) {
	vocab, err := models.CheckRoute(small.Text, large.Text)
	if err != nil {
		return nil, err
	}
	if o.Top < 1 || o.Top > min(128, vocab) {
		return nil, fmt.Errorf("top logits: expected 1 to %d, found %d", min(128, vocab), o.Top)
	}
	if o.MaxTokens < 1 {
		return nil, fmt.Errorf("tokens of an answer: expected 1 or more, found %d", o.MaxTokens)
	}
	if !slices.Contains([]string{RolloutNone, RolloutSmall, RolloutLarge}, o.Rollouts) {
		return nil, fmt.Errorf("rollouts are %q, expected none, small or large", o.Rollouts)
	}
	c := &Collector{options: o, text: small.Text, width: small.Native.Info().Embd, end: append(small.Text.EndIDs(), large.Text.EndIDs()...)}
	room := min(small.Native.Info().ContextTrain, large.Native.Info().ContextTrain, 4096+o.MaxTokens)
	if c.small, err = newSequence(small.Native, vocab, room); err != nil {
		return nil, err
	}
	if c.large, err = newSequence(large.Native, vocab, room); err != nil {
		return nil, errors.Join(err, c.small.runner.Close())
	}
	return c, nil
}

// Close frees both KV caches.
func (c *Collector) Close() error { return errors.Join(c.small.runner.Close(), c.large.runner.Close()) }

// Write runs both models over a prompt and writes the file.
func (c *Collector) Write(path string, p Prompt) error {
	prompt, err := c.text.Prompt(chat.Request{Messages: p.Messages})
	if err != nil {
		return err
	}
	if len(prompt) >= c.small.room {
		return fmt.Errorf("the prompt has %d tokens, which leaves no room for an answer in %d", len(prompt), c.small.room)
	}
	most := min(len(prompt)+c.options.MaxTokens, c.small.room)
	whole, err := c.large.finish(prompt, most, c.end)
	if err != nil {
		return fmt.Errorf("large model: %w", err)
	}
	var hidden, logits, entropy []float32
	var ids, small []int32
	needs := router.Needs{Top: c.options.Top, Hidden: true}
	err = c.small.rows(whole[:len(whole)-1], len(prompt)-1, needs, func(row router.Row) {
		hidden, logits, entropy = append(hidden, row.Hidden...), append(logits, row.TopLogits...), append(entropy, row.Entropy)
		ids, small = append(ids, row.TopIDs...), append(small, row.Token)
	})
	if err != nil {
		return fmt.Errorf("small model: %w", err)
	}
	large := whole[len(prompt):]
	text, largeRight, err := c.judge(large, p.Answer)
	if err != nil {
		return err
	}
	right := make([]int8, len(large))
	for i := range right {
		right[i] = -1
		if largeRight != 1 || small[i] == large[i] || c.options.Rollouts == RolloutNone {
			continue
		}
		if right[i], err = c.rollout(whole[:len(prompt)+i], small[i], len(prompt), most, p.Answer); err != nil {
			return fmt.Errorf("rollout: %w", err)
		}
	}
	n := len(large)
	metadata := map[string]string{"text": text, "expected": p.Answer, "large_right": strconv.Itoa(int(largeRight))}
	return writeSafetensors(path, metadata, []tensor{
		{"prompt", []int{len(prompt)}, prompt}, {"large", []int{n}, large}, {"small", []int{n}, small},
		{"hidden", []int{n, c.width}, hidden}, {"top_logits", []int{n, c.options.Top}, logits}, {"top_ids", []int{n, c.options.Top}, ids},
		{"entropy", []int{n}, entropy}, {"right", []int{n}, right},
	})
}

// rollout says whether the result is right if the small model's token is kept: 1, or 0.
func (c *Collector) rollout(before []int32, token int32, prompt, most int, want string) (int8, error) {
	ids := append(slices.Clone(before), token)
	if !slices.Contains(c.end, token) {
		model := c.small
		if c.options.Rollouts == RolloutLarge {
			model = c.large
		}
		var err error
		if ids, err = model.finish(ids, most, c.end); err != nil {
			return 0, err
		}
	}
	_, right, err := c.judge(ids[prompt:], want)
	return right, err
}

// judge gives the text of an answer and whether its result is right: 1, 0, or -1 where that is not known.
func (c *Collector) judge(ids []int32, want string) (string, int8, error) {
	text, err := c.text.Tokenizer().Decode(ids, tokenizer.DecodeOptions{})
	if err != nil {
		return "", 0, err
	}
	expected, known := lastNumber(want)
	if !known {
		return text, -1, nil
	}
	if found, ok := lastNumber(text); ok && found == expected {
		return text, 1, nil
	}
	return text, 0, nil
}

var number = regexp.MustCompile(`-?\d[\d,]*(\.\d+)?`)

// lastNumber is the last number of a text, without the commas of thousands.
func lastNumber(text string) (float64, bool) {
	all := number.FindAllString(text, -1)
	if len(all) == 0 {
		return 0, false
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(all[len(all)-1], ",", ""), 64)
	return f, err == nil
}
