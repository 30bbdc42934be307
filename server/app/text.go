package app

import (
	"strings"

	"github.com/tokenrouter/tokenrouter/models"
	"github.com/tokenrouter/tokenrouter/models/chat"
	"github.com/tokenrouter/tokenrouter/models/output"
	"github.com/tokenrouter/tokenrouter/models/tokenizer"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/api"
)

// text is a model's tokenizer and chat template, as the scheduler and the API see it.
type text struct {
	model *models.Model
	// developer: the template knows the role of that name. To one that does not, a developer message is a system
	// message, which the API has renamed; many templates would drop it silently.
	developer bool
	style     output.Style
}

var (
	_ sched.Text = text{}
	_ api.Text   = text{}
)

func textOf(m *models.Model) text {
	t := text{model: m}
	if template, err := m.Chat(); err == nil {
		t.developer = strings.Contains(template.Source(), "developer")
		t.style = output.Detect(template.Source())
	}
	return t
}

// Piece implements sched.Text and api.Text.
func (t text) Piece(id int32) string {
	b, _ := t.model.Tokenizer().Bytes(id)
	return string(b)
}

// Style implements api.Text.
func (t text) Style() output.Style { return t.style }

// Encode implements api.Text.
func (t text) Encode(s string) []int32 {
	return t.model.Tokenizer().Encode(s, tokenizer.Options{ParseSpecial: true, AddSpecial: true})
}

// AtLeast implements api.Text.
func (t text) AtLeast(bytes int) int { return t.model.Tokenizer().AtLeast(bytes) }

// Tokenize implements api.Text.
func (t text) Tokenize(s string, parse, add bool) []int32 {
	return t.model.Tokenizer().Encode(s, tokenizer.Options{ParseSpecial: parse, AddSpecial: add})
}

// Decode implements api.Text.
func (t text) Decode(ids []int32) (string, error) {
	return t.model.Tokenizer().Decode(ids, tokenizer.DecodeOptions{Whole: true})
}

// Render implements api.Text.
func (t text) Render(r chat.Request) (string, error) {
	template, err := t.model.Chat()
	if err != nil {
		return "", err
	}
	return template.Render(t.rename(r))
}

// Prompt implements api.Text.
func (t text) Prompt(r chat.Request) ([]int32, error) { return t.model.Prompt(t.rename(r)) }

// rename makes system messages of those of a developer, if the template does not know these.
func (t text) rename(r chat.Request) chat.Request {
	if !t.developer {
		messages := make([]chat.Message, len(r.Messages))
		copy(messages, r.Messages)
		for i := range messages {
			if messages[i].Role == "developer" {
				messages[i].Role = "system"
			}
		}
		r.Messages = messages
	}
	return r
}

// NewDetokenizer implements sched.Text.
func (t text) NewDetokenizer(special bool) sched.Detokenizer {
	return detokenizer{t.model.Tokenizer().NewDetokenizer(tokenizer.DecodeOptions{SkipSpecial: !special})}
}

type detokenizer struct{ *tokenizer.Detokenizer }

// Add implements sched.Detokenizer. Ids outside the vocabulary, which the scheduler masks, have no text.
func (d detokenizer) Add(id int32) string {
	s, err := d.Append(id)
	if err != nil {
		return ""
	}
	return s
}
