package api

import (
	"fmt"
	"net/http"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/tokenrouter/tokenrouter/server/openai"
)

// tokenize answers POST /tokenize.
func (s *Server) tokenize(c *gin.Context) {
	reply(s, c, openai.DecodeTokenize, func(state *state, r *openai.TokenizeRequest) (any, error) {
		t, e := findOrFirst(state.targets, r.Model)
		if e != nil {
			return nil, e
		}
		ids := t.Text.Tokenize(*r.Content, r.ParseSpecial == nil || *r.ParseSpecial, r.AddSpecial)
		a := openai.TokenizeAnswer{Model: t.Name, Tokens: openai.TokenList{IDs: ids}, Count: len(ids)}
		if r.WithPieces {
			a.Tokens.Pieces = make([]openai.TokenPiece, len(ids))
			for i, id := range ids {
				a.Tokens.Pieces[i] = openai.TokenPiece{ID: id, Piece: spelling(t.Text.Piece(id))}
			}
		}
		return a, nil
	})
}

// spelling is a token's text, or its bytes where it is no text.
func spelling(text string) any {
	if utf8.ValidString(text) {
		return text
	}
	bytes := make([]int, len(text))
	for i := range len(text) {
		bytes[i] = int(text[i])
	}
	return bytes
}

// detokenize answers POST /detokenize.
func (s *Server) detokenize(c *gin.Context) {
	reply(s, c, openai.DecodeDetokenize, func(state *state, r *openai.DetokenizeRequest) (any, error) {
		t, e := findOrFirst(state.targets, r.Model)
		if e != nil {
			return nil, e
		}
		for i, id := range r.Tokens {
			if int(id) >= t.Vocab {
				return nil, openai.Invalid(fmt.Sprintf("tokens[%d]", i), openai.CodeInvalidValue,
					"there is no token %d; ids of %q are 0 to %d", id, t.Name, t.Vocab-1)
			}
		}
		content, err := t.Text.Decode(r.Tokens)
		if err != nil {
			return nil, fmt.Errorf("tokens: %w", err)
		}
		return openai.DetokenizeAnswer{Model: t.Name, Content: content}, nil
	})
}

// applyTemplate answers POST /apply-template.
func (s *Server) applyTemplate(c *gin.Context) {
	reply(s, c, openai.DecodeTemplate, func(state *state, r *openai.TemplateRequest) (any, error) {
		t, e := findOrFirst(state.targets, r.Model)
		if e != nil {
			return nil, e
		}
		q := conversation(r.Messages, r.Tools, r.ChatTemplateKwargs)
		q.NoGenerationPrompt = r.AddGenerationPrompt != nil && !*r.AddGenerationPrompt
		prompt, err := t.Text.Render(q)
		if err != nil {
			return nil, unrendered(t, err)
		}
		ids, err := t.Text.Prompt(q)
		if err != nil {
			return nil, unrendered(t, err)
		}
		return openai.TemplateAnswer{Model: t.Name, Prompt: prompt, Tokens: ids}, nil
	})
}

// findOrFirst is find, or the first target when none is named.
func findOrFirst(targets []Target, name string) (*Target, *openai.Error) {
	if name == "" && len(targets) > 0 {
		return &targets[0], nil
	}
	return find(targets, name)
}

// reply answers a request that the engine has no part in.
func reply[R any](s *Server, c *gin.Context, decode func([]byte) (*R, error), answer func(*state, *R) (any, error)) {
	state, ok := s.serving(c)
	if !ok {
		return
	}
	body, ok := s.body(c)
	if !ok {
		return
	}
	r, err := decode(body)
	if err != nil {
		s.fail(c, failure(err))
		return
	}
	a, err := answer(state, r)
	if err != nil {
		s.fail(c, failure(err))
		return
	}
	s.write(c, http.StatusOK, a)
}
