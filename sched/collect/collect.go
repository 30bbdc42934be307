// Package collect gathers what routers are trained on: what a small model knows at every position of a large model's answer,
// what it would have written there, and whether that would have spoiled the result. docs/training.md says what a file has.
package collect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

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
	Live      int    // answers that a model writes at a time, at least 1
}

// Model is one of the pair.
type Model struct {
	Text   *models.Model
	Native *sched.NativeModel
}

// Collector works on prompts, as many at a time as it is given. Safe for concurrent use.
type Collector struct {
	options  Options
	text     *models.Model
	answers  *writer // of the large model
	rollouts *writer // nil: there are none
	end      []int32
	width    int

	mu    sync.Mutex
	small *sequence // one prompt at a time
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
	if o.Live < 1 {
		return nil, fmt.Errorf("answers at a time: expected 1 or more, found %d", o.Live)
	}
	c := &Collector{options: o, text: small.Text, width: small.Native.Info().Embd, end: append(small.Text.EndIDs(), large.Text.EndIDs()...)}
	room := min(small.Native.Info().ContextTrain, large.Native.Info().ContextTrain, 4096+o.MaxTokens)
	if c.small, err = newSequence(small.Native, vocab, room); err != nil {
		return nil, err
	}
	c.answers, err = newWriter(large.Native, vocab, room, o.Live, c.end)
	if err == nil && o.Rollouts == RolloutSmall {
		c.rollouts, err = newWriter(small.Native, vocab, room, o.Live, c.end)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if o.Rollouts == RolloutLarge {
		c.rollouts = c.answers
	}
	return c, nil
}

// Close frees the KV caches. No Write may be running.
func (c *Collector) Close() error {
	err := c.small.runner.Close()
	if c.answers != nil {
		err = errors.Join(err, c.answers.close())
	}
	if c.rollouts != nil && c.rollouts != c.answers {
		err = errors.Join(err, c.rollouts.close())
	}
	return err
}

// Write runs both models over a prompt and writes the file.
func (c *Collector) Write(ctx context.Context, path string, p Prompt) error {
	prompt, err := c.text.Prompt(chat.Request{Messages: p.Messages})
	if err != nil {
		return err
	}
	if len(prompt) >= c.small.room {
		return fmt.Errorf("the prompt has %d tokens, which leaves no room for an answer in %d", len(prompt), c.small.room)
	}
	most := min(len(prompt)+c.options.MaxTokens, c.small.room)
	whole, err := c.answers.finish(ctx, prompt, most)
	if err != nil {
		return fmt.Errorf("large model: %w", err)
	}
	var hidden, logits, entropy []float32
	var ids, small []int32
	needs := router.Needs{Top: c.options.Top, Hidden: true}
	c.mu.Lock()
	err = c.small.rows(whole[:len(whole)-1], len(prompt)-1, needs, func(row router.Row) {
		hidden, logits, entropy = append(hidden, row.Hidden...), append(logits, row.TopLogits...), append(entropy, row.Entropy)
		ids, small = append(ids, row.TopIDs...), append(small, row.Token)
	})
	c.mu.Unlock()
	if err != nil {
		return fmt.Errorf("small model: %w", err)
	}
	large := whole[len(prompt):]
	text, largeRight, err := c.judge(large, p.Answer)
	if err != nil {
		return err
	}
	right, err := c.tryAll(ctx, whole, len(prompt), small, largeRight, most, p.Answer)
	if err != nil {
		return fmt.Errorf("rollout: %w", err)
	}
	n := len(large)
	metadata := map[string]string{"text": text, "expected": p.Answer, "large_right": strconv.Itoa(int(largeRight))}
	return writeSafetensors(path, metadata, []tensor{
		{"prompt", []int{len(prompt)}, prompt}, {"large", []int{n}, large}, {"small", []int{n}, small},
		{"hidden", []int{n, c.width}, hidden}, {"top_logits", []int{n, c.options.Top}, logits}, {"top_ids", []int{n, c.options.Top}, ids},
		{"entropy", []int{n}, entropy}, {"right", []int{n}, right},
	})
}

// tryAll says of each token of an answer whether the result is right if the small model's is kept: 1, 0, or -1 where that is not tried.
// All are tried at once.
func (c *Collector) tryAll(ctx context.Context, whole []int32, prompt int, small []int32, largeRight int8, most int, want string) ([]int8, error) {
	large := whole[prompt:]
	right, errs := make([]int8, len(large)), make([]error, len(large))
	var tries sync.WaitGroup
	for i := range right {
		right[i] = -1
		if largeRight != 1 || small[i] == large[i] || c.rollouts == nil {
			continue
		}
		tries.Go(func() { right[i], errs[i] = c.rollout(ctx, whole[:prompt+i], small[i], prompt, most, want) })
	}
	tries.Wait()
	return right, errors.Join(errs...)
}

// rollout says whether the result is right if the small model's token is kept: 1, or 0.
func (c *Collector) rollout(ctx context.Context, before []int32, token int32, prompt, most int, want string) (int8, error) {
	ids := append(slices.Clone(before), token)
	if !slices.Contains(c.end, token) {
		var err error
		if ids, err = c.rollouts.finish(ctx, ids, most); err != nil {
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
