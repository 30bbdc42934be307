package sched

import (
	"fmt"
	"math"
)

// maxLogProbs is the most alternatives per token that a request can ask for, as in the OpenAI API.
const maxLogProbs = 20

// spec checks a request against its target and returns its terms. A request that would spoil a batch is stopped here,
// where it harms nobody.
func (t *target) spec(r *Request) (*Spec, error) {
	switch {
	case len(r.Prompt) == 0:
		return nil, fmt.Errorf("%w: the prompt has no tokens", ErrInvalid)
	case r.Top < 0 || r.Top > maxLogProbs:
		return nil, fmt.Errorf("%w: %d alternatives per token asked for, 0 to %d can be had", ErrInvalid, r.Top, maxLogProbs)
	case len(r.Stop) > 0 && t.text == nil:
		return nil, fmt.Errorf("%w: stop strings need a tokenizer, which %q does not have", ErrInvalid, t.models[0])
	}
	for _, stop := range r.Stop {
		if stop == "" {
			return nil, fmt.Errorf("%w: a stop string is empty", ErrInvalid)
		}
	}
	for i, id := range r.Prompt {
		if id < 0 || int(id) >= t.vocab {
			return nil, fmt.Errorf("%w: prompt token %d is id %d, valid in %q are 0 to %d", ErrInvalid, i, id, t.name, t.vocab-1)
		}
	}
	if err := r.Sampling.check(t.vocab); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if n := len(r.Prompt); n >= t.limit() {
		what := fmt.Sprintf("the context of %q is %d tokens", t.name, t.context)
		if t.capacity < t.context {
			what = fmt.Sprintf("the KV cache of %q holds %d tokens; give it more memory", t.name, t.capacity)
		}
		return nil, fmt.Errorf("%w: the prompt has %d tokens and needs room for at least 1 more, %s", ErrTooLong, n, what)
	}

	algorithm, params := t.algorithm, t.params.Override(r.Params)
	if r.Algorithm != "" && r.Algorithm != algorithm {
		// The route's parameters are those of its own algorithm.
		algorithm, params = r.Algorithm, r.Params
	}
	if _, err := t.algorithmFor(algorithm, params); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if r.Grammar != "" {
		if r.IgnoreEnd {
			return nil, fmt.Errorf("%w: an answer in a grammar cannot go on after its end", ErrInvalid)
		}
		if _, err := t.constraint(r.Grammar); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
		}
	}
	s := &Spec{
		Route: t.name, Models: t.models, Algorithm: algorithm, Params: params,
		Prompt: len(r.Prompt), MaxLength: t.limit(), Vocab: t.vocab, End: t.end, IgnoreEnd: r.IgnoreEnd,
		Top: r.Top, LogProbs: r.LogProbs, Trace: r.Trace, Grammar: r.Grammar, Sampling: r.Sampling,
	}
	if r.MaxTokens > 0 && r.MaxTokens < s.MaxLength-s.Prompt {
		s.MaxLength = s.Prompt + r.MaxTokens
	}
	return s, nil
}

// check reports the first field that is out of range.
func (s *Sampling) check(vocab int) error {
	for _, f := range []struct {
		name     string
		value    float32
		min, max float32
	}{
		{"temperature", s.Temperature, 0, math.MaxFloat32},
		{"top_p", s.TopP, 0, 1},
		{"min_p", s.MinP, 0, 1},
		{"repetition penalty", s.RepetitionPenalty, 0, math.MaxFloat32},
		{"presence penalty", s.PresencePenalty, -math.MaxFloat32, math.MaxFloat32},
		{"frequency penalty", s.FrequencyPenalty, -math.MaxFloat32, math.MaxFloat32},
	} {
		if !(f.value >= f.min && f.value <= f.max) { // written so that NaN fails
			return fmt.Errorf("%s is %g, allowed is %g to %g", f.name, f.value, f.min, f.max)
		}
	}
	if s.TopK < 0 {
		return fmt.Errorf("top_k is %d, allowed is 0 (off) and above", s.TopK)
	}
	if len(s.BiasIDs) != len(s.Bias) {
		return fmt.Errorf("logit bias has %d ids and %d values", len(s.BiasIDs), len(s.Bias))
	}
	seen := make(map[int32]bool, len(s.BiasIDs))
	for i, id := range s.BiasIDs {
		switch {
		case id < 0 || int(id) >= vocab:
			return fmt.Errorf("logit bias names id %d, valid are 0 to %d", id, vocab-1)
		case seen[id]:
			return fmt.Errorf("logit bias names id %d twice", id)
		case s.Bias[i] != s.Bias[i]:
			return fmt.Errorf("logit bias of id %d is not a number", id)
		}
		seen[id] = true
	}
	return nil
}
