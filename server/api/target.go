package api

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tokenrouter/tokenrouter/internal/suggest"
	"github.com/tokenrouter/tokenrouter/models/chat"
	"github.com/tokenrouter/tokenrouter/models/output"
	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/openai"
)

// Engine answers requests. *sched.Engine is one, by way of [EngineOf].
type Engine interface {
	// Submit queues a request; it is cancelled with ctx. Errors wrap those of package sched.
	Submit(ctx context.Context, r sched.Request) (Stream, error)
	// Snapshot says what the engine is doing.
	Snapshot() sched.Snapshot
}

// Stream is the answer to one request.
type Stream interface {
	Next(ctx context.Context) (sched.Event, error)
	Summary() sched.Summary
}

// EngineOf adapts the scheduler's engine.
func EngineOf(e *sched.Engine) Engine { return schedEngine{e} }

type schedEngine struct{ *sched.Engine }

func (e schedEngine) Submit(ctx context.Context, r sched.Request) (Stream, error) {
	s, err := e.Engine.Submit(ctx, r)
	if err != nil {
		return nil, err // not s: a nil pointer in an interface is not nil
	}
	return s, nil
}

// Text turns what clients send into tokens, and tokens into text: that of the entry model of a target. Safe for
// concurrent use.
type Text interface {
	// Prompt renders a conversation by the model's chat template. The error says why the model cannot chat, or what
	// the template objected to.
	Prompt(r chat.Request) ([]int32, error)
	// Render gives the text of a conversation as the model's chat template writes it. Errors are those of Prompt.
	Render(r chat.Request) (string, error)
	// Encode tokenizes a text to complete, spellings of special tokens included.
	Encode(text string) []int32
	// AtLeast is a number of tokens that a text of so many bytes has at least, found out at no cost.
	AtLeast(bytes int) int
	// Tokenize tokenizes a text; parse reads spellings of special tokens as such, add adds those that begin and end a text.
	Tokenize(text string, parse, add bool) []int32
	// Decode is the text of tokens, special ones spelled out.
	Decode(ids []int32) (string, error)
	// Piece returns the bytes of a token.
	Piece(id int32) string
	// Style says how the model marks thoughts and calls of tools.
	Style() output.Style
}

// Grammars are those that a target's answers can be held to. Safe for concurrent use.
type Grammars interface {
	// Check reports whether a [grammar.Source] can be followed; if it is for a schema, the error is a [grammar.SchemaError]. It may wait
	// for others, until ctx is done.
	Check(ctx context.Context, source string) error
}

// Target is what the `model` field of a request can name: a route, or a model served alone.
type Target struct {
	Name        string
	Algorithm   string
	Params      router.Params
	Models      []string // the entry first
	Context     int      // longest sequence that the models can read, in tokens
	Capacity    int      // longest that fits into the smallest KV cache; 0: no bound of its own
	Vocab       int      // ids valid in all models
	Created     time.Time
	Fingerprint string // of what decides the answers: models, their files, algorithm and parameters
	Text        Text
	Memory      *openai.MemoryState // of a model alone; nil: not known
	Grammars    Grammars
}

// route reports whether the target is a route rather than a model alone.
func (t *Target) route() bool { return len(t.Models) > 1 }

// limit is the longest sequence that the target can hold, in tokens.
func (t *Target) limit() int {
	if t.Capacity > 0 {
		return min(t.Context, t.Capacity)
	}
	return t.Context
}

// describe is the target as /v1/models shows it.
func (t *Target) describe() openai.Model {
	m := openai.Model{
		ID: t.Name, Object: openai.ObjectModel, Created: t.Created.Unix(), OwnedBy: "tokenrouter", ContextLength: t.limit(),
	}
	if t.route() {
		detail := t.detail()
		m.Route = &detail
	}
	return m
}

// detail is what the target is made of.
func (t *Target) detail() openai.RouteDetail {
	return openai.RouteDetail{Algorithm: t.Algorithm, Models: t.Models, Threshold: t.Params.Threshold,
		LargeShare: t.Params.LargeShare, Weights: t.Params.Weights, Strategy: t.Params.Strategy, Draft: t.Params.Draft}
}

// find looks a target up; the error names those there are.
func find(targets []Target, name string) (*Target, *openai.Error) {
	for i := range targets {
		if targets[i].Name == name {
			return &targets[i], nil
		}
	}
	names := make([]string, len(targets))
	for i := range targets {
		names[i] = targets[i].Name
	}
	hint := suggest.Phrase(name, names)
	slices.Sort(names)
	e := openai.Invalid("model", openai.CodeModelNotFound, "there is no %q%s; there are: %s", clip(name), hint, strings.Join(names, ", "))
	e.Status = http.StatusNotFound
	return nil, e
}

// clip shortens what a client sent for use in a message.
func clip(s string) string {
	const most = 100
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
