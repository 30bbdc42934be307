package openai

import (
	"fmt"
	"math"
)

// Limits of fields.
const (
	MaxStops       = 16  // stop strings of a request
	MaxStopBytes   = 512 // bytes of one
	MaxTopLogprobs = 20
	MaxChoices     = 128 // answers of a request
)

// Generation are the fields that both completions endpoints share: how tokens are drawn, when the answer ends, how it is
// sent. A nil pointer means that the field was not given. After decoding all values are within range.
type Generation struct {
	Temperature       *float64   `json:"temperature"`        // 0 to 2; 0: greedy
	TopP              *float64   `json:"top_p"`              // 0 to 1
	TopK              *Int       `json:"top_k"`              // -1, 0: off
	MinP              *float64   `json:"min_p"`              // 0 to 1
	RepetitionPenalty *float64   `json:"repetition_penalty"` // above 0; 1: off
	PresencePenalty   *float64   `json:"presence_penalty"`   // -2 to 2
	FrequencyPenalty  *float64   `json:"frequency_penalty"`  // -2 to 2
	LogitBias         *LogitBias `json:"logit_bias"`
	Seed              *Int       `json:"seed"`
	Stop              Strings    `json:"stop"`

	ResponseFormat *ResponseFormat `json:"response_format"`

	MaxTokens         *Int  `json:"max_tokens"`
	N                 *Int  `json:"n"` // answers per prompt, 1 to MaxChoices
	IgnoreEOS         bool  `json:"ignore_eos"`
	SkipSpecialTokens *bool `json:"skip_special_tokens"`

	Stream        bool            `json:"stream"`
	StreamOptions *StreamOptions  `json:"stream_options"`
	Routing       *RoutingRequest `json:"routing"`
}

// StreamOptions are options of a stream.
type StreamOptions struct {
	IncludeUsage       bool `json:"include_usage"`
	IncludeObfuscation bool `json:"include_obfuscation"`
}

// RoutingRequest overrides how a route answers one request. It is TokenRouter's own extension.
type RoutingRequest struct {
	Algorithm  string    `json:"algorithm"` // "": the route's
	Threshold  *float64  `json:"threshold"`
	Weights    []float64 `json:"weights"`     // [models of the route] of the ensemble
	Strategy   string    `json:"strategy"`    // a variant of the algorithm
	LargeShare *float64  `json:"large_share"` // of tokens, in place of a threshold
	Draft      *Int      `json:"draft"`       // tokens that are drafted at a time

	Trace        bool `json:"trace"`        // report who wrote each token, and what was discarded
	Alternatives *Int `json:"alternatives"` // likeliest tokens per token of the trace, 0 to 20
}

func (g *Generation) check() *Error {
	for _, f := range []struct {
		name     string
		v        *float64
		min, max float64
	}{
		{"temperature", g.Temperature, 0, 2},
		{"top_p", g.TopP, 0, 1},
		{"min_p", g.MinP, 0, 1},
		{"repetition_penalty", g.RepetitionPenalty, math.SmallestNonzeroFloat32, 10},
		{"presence_penalty", g.PresencePenalty, -2, 2},
		{"frequency_penalty", g.FrequencyPenalty, -2, 2},
	} {
		if f.v != nil && (*f.v < f.min || *f.v > f.max) {
			if f.min == math.SmallestNonzeroFloat32 {
				return Invalid(f.name, CodeInvalidValue, "%g is not above 0 and at most %g", *f.v, f.max)
			}
			return Invalid(f.name, CodeInvalidValue, "%g is outside %g to %g", *f.v, f.min, f.max)
		}
	}
	if err := within("top_k", g.TopK, -1, math.MaxInt32); err != nil {
		return err
	}
	if err := within("max_tokens", g.MaxTokens, 1, math.MaxInt32); err != nil {
		return err
	}
	if err := within("n", g.N, 1, MaxChoices); err != nil {
		return err
	}
	if len(g.Stop) > MaxStops {
		return Invalid("stop", CodeInvalidValue, "%d strings; at most %d are allowed", len(g.Stop), MaxStops)
	}
	for i, s := range g.Stop {
		if s == "" {
			return Invalid(fmt.Sprintf("stop[%d]", i), CodeInvalidValue, "is empty; an answer would end before it began")
		}
		if len(s) > MaxStopBytes {
			return Invalid(fmt.Sprintf("stop[%d]", i), CodeInvalidValue, "%d bytes; at most %d are allowed", len(s), MaxStopBytes)
		}
	}
	if r := g.Routing; r != nil {
		if err := within("routing.alternatives", r.Alternatives, 0, MaxTopLogprobs); err != nil {
			return err
		}
		if r.Alternatives != nil && *r.Alternatives > 0 && !r.Trace {
			return Invalid("routing.alternatives", CodeInvalidValue, "is only allowed with trace: true")
		}
	}
	if err := g.ResponseFormat.check(); err != nil {
		return err
	}
	if schema, _ := g.ResponseFormat.AnySchema(); schema != nil && g.IgnoreEOS {
		return Invalid("ignore_eos", CodeInvalidValue, "is not possible with response_format: the answer ends where the format does")
	}
	return g.checkDelivery()
}

// Choices is the number of answers per prompt.
func (g *Generation) Choices() int {
	if g.N != nil {
		return int(*g.N)
	}
	return 1
}

func (g *Generation) checkDelivery() *Error {
	if o := g.StreamOptions; o != nil {
		if !g.Stream {
			return Invalid("stream_options", CodeInvalidValue, "is only allowed with stream: true")
		}
		if o.IncludeObfuscation {
			return Invalid("stream_options.include_obfuscation", CodeUnsupportedValue, "padding of chunks is not supported; leave it out or send false")
		}
	}
	return nil
}

func within(name string, v *Int, least, most Int) *Error {
	switch {
	case v == nil || (*v >= least && *v <= most):
		return nil
	case most != math.MaxInt32:
		return Invalid(name, CodeInvalidValue, "%d is outside %d to %d", *v, least, most)
	case *v > most:
		return Invalid(name, CodeInvalidValue, "%d is more than %d, the largest allowed", *v, most)
	default:
		return Invalid(name, CodeInvalidValue, "%d is not at least %d", *v, least)
	}
}
