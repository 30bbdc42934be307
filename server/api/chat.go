package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/tokenrouter/tokenrouter/models"
	"github.com/tokenrouter/tokenrouter/models/chat"
	"github.com/tokenrouter/tokenrouter/models/output"
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
		offered := r.Offered()
		written := conversation(r.Messages, offered, r.ChatTemplateKwargs)
		written.Most = t.limit() - 1
		prompt, err := t.Text.Prompt(written)
		if err != nil {
			return nil, unrendered(t, err)
		}
		if e := fits(t, "messages", prompt); e != nil {
			return nil, e
		}
		style := t.Text.Style()
		if len(offered) > 0 && style.Calls == output.NoCalls {
			return nil, openai.Invalid("tools", openai.CodeUnsupportedValue, "the format in which %q writes calls of tools is not known", t.Name)
		}
		thinking := t.thinking(style, prompt)
		if q.Grammar, e = answerGrammar(c.Request.Context(), t, r, style, thinking); e != nil {
			return nil, e
		}
		if q.Grammar != "" && q.IgnoreEnd {
			return nil, openai.Invalid("ignore_eos", openai.CodeInvalidValue, "is not possible with a response_format or calls that must be made: the answer ends where these do")
		}
		call := newCall(t, &r.Generation, "messages", q, prompt)
		if style.Reasoning || len(offered) > 0 {
			names := make([]string, len(offered))
			for i := range offered {
				names[i] = offered[i].Function.Name
			}
			call.parser = func() *output.Parser { return style.Parser(thinking, names) }
		}
		call.thoughts = func() *thoughts { return &thoughts{parser: style.Parser(thinking, nil)} }
		call.form = &chatForm{head: call.head("chatcmpl-"), text: t.Text, logprobs: r.Logprobs, top: top, withUsage: call.withUsage}
		return call, nil
	})
}

// thinking is where a prompt leaves the model's thoughts.
func (t *Target) thinking(style output.Style, prompt []int32) output.Thinking {
	if !style.Reasoning {
		return output.Closed
	}
	const enough = 16 // tokens of the mark, however it is cut up
	end := ""
	for _, id := range prompt[max(0, len(prompt)-enough):] {
		end += t.Text.Piece(id)
	}
	return style.Thinking(end)
}

// conversation is messages and tools as the template takes them.
func conversation(messages []openai.Message, tools []openai.Tool, vars map[string]any) chat.Request {
	q := chat.Request{Messages: make([]chat.Message, len(messages)), Vars: vars}
	for i, m := range messages {
		to := chat.Message{Role: m.Role, Name: m.Name, ReasoningContent: m.ReasoningContent, ToolCallID: m.ToolCallID, Content: chat.Content{}}
		for _, text := range m.Content.Parts {
			to.Content = append(to.Content, chat.Part{Type: "text", Text: text})
		}
		for _, c := range m.ToolCalls {
			arguments, err := json.Marshal(c.Function.Arguments)
			if err != nil { // of a string: cannot be
				arguments = nil
			}
			to.ToolCalls = append(to.ToolCalls, chat.ToolCall{ID: c.ID, Type: "function", Function: chat.FunctionCall{Name: c.Function.Name, Arguments: arguments}})
		}
		q.Messages[i] = to
	}
	for i := range tools {
		q.Tools = append(q.Tools, tools[i].Raw)
	}
	return q
}

// unrendered turns an error of the chat template into one of the API.
func unrendered(t *Target, err error) *openai.Error {
	var input *chat.InputError
	var raised *chat.RaisedError
	var no *models.NoChatError
	var long *chat.LongError
	switch {
	case errors.As(err, &long):
		return tooLong(t, "messages", fmt.Sprintf("at least %d", long.AtLeast))
	case errors.As(err, &input):
		if !strings.HasPrefix(input.Field, "messages") && !strings.HasPrefix(input.Field, "tools") {
			return openai.Invalid("chat_template_kwargs", openai.CodeInvalidValue, "%v", input)
		}
		return openai.Invalid(input.Field, openai.CodeInvalidValue, "%v", input.Err)
	case errors.As(err, &raised):
		return openai.Invalid("messages", openai.CodeInvalidValue, "%v", raised)
	case errors.As(err, &no):
		return openai.Invalid("model", openai.CodeUnsupportedValue, "%q cannot chat: %v. Use /v1/completions, or have the operator set "+
			"chat_template for the model", t.Name, no.Err)
	default:
		return openai.Failure(http.StatusInternalServerError, openai.CodeInternal, "the conversation could not be written for %q: %v", t.Name, err)
	}
}
