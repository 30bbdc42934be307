package api

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/tokenrouter/tokenrouter/models"
	"github.com/tokenrouter/tokenrouter/models/chat"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/openai"
)

// chatCompletions answers POST /v1/chat/completions.
func (s *Server) chatCompletions(c *gin.Context) {
	s.serve(c, func(state *state, body []byte) (*call, error) {
		r, err := openai.DecodeChat(body, s.options.MaxPrompts)
		if err != nil {
			return nil, err
		}
		t, q, e := address(state.targets, r.Model, &r.Generation)
		if e != nil {
			return nil, e
		}
		q.MaxTokens, q.LogProbs = r.Limit(), r.Logprobs
		top := 0
		if r.TopLogprobs != nil {
			top = int(*r.TopLogprobs)
		}
		q.Top = max(q.Top, top)
		prompt, err := t.Text.Prompt(conversation(r.Messages, r.ChatTemplateKwargs))
		if err != nil {
			return nil, unrendered(t, err)
		}
		if e := fits(t, "messages", prompt); e != nil {
			return nil, e
		}
		call := newCall(t, &r.Generation, "messages", q, prompt)
		call.form = &chatForm{head: call.head("chatcmpl-"), text: t.Text, logprobs: r.Logprobs, top: top, withUsage: call.withUsage}
		return call, nil
	})
}

// conversation is messages as the template takes them.
func conversation(messages []openai.Message, vars map[string]any) chat.Request {
	q := chat.Request{Messages: make([]chat.Message, len(messages)), Vars: vars}
	for i, m := range messages {
		to := chat.Message{Role: m.Role, Name: m.Name, ReasoningContent: m.ReasoningContent, Content: chat.Content{}}
		for _, text := range m.Content.Parts {
			to.Content = append(to.Content, chat.Part{Type: "text", Text: text})
		}
		q.Messages[i] = to
	}
	return q
}

// unrendered turns an error of the chat template into one of the API.
func unrendered(t *Target, err error) *openai.Error {
	var input *chat.InputError
	var raised *chat.RaisedError
	var no *models.NoChatError
	switch {
	case errors.As(err, &input):
		param := input.Field
		if !strings.HasPrefix(param, "messages") && !strings.HasPrefix(param, "tools") {
			param = "chat_template_kwargs"
		}
		return openai.Invalid(param, openai.CodeInvalidValue, "%v", input)
	case errors.As(err, &raised):
		return openai.Invalid("messages", openai.CodeInvalidValue, "%v", raised)
	case errors.As(err, &no):
		return openai.Invalid("model", openai.CodeUnsupportedValue, "%q cannot chat: %v. Use /v1/completions, or have the operator set "+
			"chat_template for the model", t.Name, no.Err)
	default:
		return openai.Failure(http.StatusInternalServerError, openai.CodeInternal, "the conversation could not be written for %q: %v", t.Name, err)
	}
}

// completions answers POST /v1/completions.
func (s *Server) completions(c *gin.Context) {
	s.serve(c, func(state *state, body []byte) (*call, error) {
		r, err := openai.DecodeCompletion(body, s.options.MaxPrompts)
		if err != nil {
			return nil, err
		}
		t, q, e := address(state.targets, r.Model, &r.Generation)
		if e != nil {
			return nil, e
		}
		q.MaxTokens, q.LogProbs = r.Limit(), r.Logprobs != nil
		top := 0
		if r.Logprobs != nil {
			top = int(*r.Logprobs)
		}
		q.Top = max(q.Top, top)
		prompts, e := prompts(t, &r.Prompt)
		if e != nil {
			return nil, e
		}
		call := newCall(t, &r.Generation, "prompt", q, prompts...)
		call.form = &completionForm{head: call.head("cmpl-"), text: t.Text, logprobs: q.LogProbs, top: top, withUsage: call.withUsage}
		return call, nil
	})
}

// prompts turns the prompts of a completion into tokens, each checked against the target.
func prompts(t *Target, p *openai.Prompt) ([][]int32, *openai.Error) {
	all := p.Tokens
	for _, text := range p.Texts {
		all = append(all, t.Text.Encode(text))
	}
	for i, ids := range all {
		name := p.Name(i)
		for j, id := range ids {
			if int(id) >= t.Vocab {
				return nil, openai.Invalid(fmt.Sprintf("%s[%d]", name, j), openai.CodeInvalidValue,
					"there is no token %d; ids of %q are 0 to %d", id, t.Name, t.Vocab-1)
			}
		}
		if e := fits(t, name, ids); e != nil {
			return nil, e
		}
	}
	return all, nil
}

// call is a request that has been understood: what to ask of the engine, and how to send the answer.
type call struct {
	target   *Target
	requests []sched.Request // one per choice
	each     int             // choices per prompt
	param    string          // the field that the prompts came in
	form     form
	created  time.Time
	seed     uint64

	streamed  bool
	withUsage bool // of a stream

	traced       bool
	alternatives int // per token of the trace
}

// newCall asks q of each prompt, as often as there are to be choices. These differ in the random numbers that they are drawn with.
func newCall(t *Target, g *openai.Generation, param string, q sched.Request, prompts ...[]int32) *call {
	c := &call{
		target: t, each: g.Choices(), param: param, created: time.Now(), seed: q.Sampling.Seed,
		streamed: g.Stream, withUsage: g.StreamOptions != nil && g.StreamOptions.IncludeUsage, traced: q.Trace,
	}
	for _, prompt := range prompts {
		for i := range c.each {
			r := q
			r.Prompt, r.Sampling.Choice = prompt, uint32(i)
			c.requests = append(c.requests, r)
		}
	}
	if g.Routing != nil && g.Routing.Alternatives != nil {
		c.alternatives = int(*g.Routing.Alternatives)
	}
	return c
}

// head makes the fields at the top of the answer.
func (c *call) head(prefix string) openai.Head {
	return openai.Head{
		ID: newID(prefix), Object: openai.ObjectCompletion, Created: c.created.Unix(), Model: c.target.Name,
		SystemFingerprint: c.target.Fingerprint,
	}
}

// serve reads and understands a request, and answers it.
func (s *Server) serve(c *gin.Context, understand func(*state, []byte) (*call, error)) {
	state, ok := s.serving(c)
	if !ok {
		return
	}
	body, ok := s.body(c)
	if !ok {
		return
	}
	call, err := understand(state, body)
	if err != nil {
		s.fail(c, failure(err))
		return
	}
	s.answer(c, state.engine, call)
}
