package api

import (
	"fmt"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/tokenrouter/tokenrouter/models/grammar"
	"github.com/tokenrouter/tokenrouter/models/output"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/openai"
)

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
		if schema, field := r.ResponseFormat.AnySchema(); schema != nil {
			if q.Grammar, e = checked(c.Request.Context(), t, grammar.Source{Schema: schema, Name: field}); e != nil {
				return nil, e
			}
		}
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
	for i, text := range p.Texts {
		if e := mayFit(t, p.Name(i), t.Text.AtLeast(len(text))); e != nil { // before it is tokenized, which takes long
			return nil, e
		}
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
	parser   func() *output.Parser // of a choice; nil: all of its text is content
	thoughts func() *thoughts      // of a choice; nil: they are not told apart
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
	if state.draining {
		s.fail(c, openai.Failure(http.StatusServiceUnavailable, openai.CodeShuttingDown, "%v", ErrShutdown))
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
