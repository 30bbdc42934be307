// Package oracle answers as a plain sequential loop: one request at a time, one sequence per model, R-Stitch written out.
// It uses nothing of the scheduler, the router or the server, only bare forward passes, so that what they answer can be
// compared with it token by token.
package oracle

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tokenrouter/tokenrouter/bindings"
)

// Terms are what an answer depends on beside its prompt.
type Terms struct {
	Temperature float32
	Seed        uint64
	Threshold   float64 // of the normalised entropy
	MaxTokens   int
	EndIDs      []int32
}

// Token is one token of an answer.
type Token struct {
	ID    int32
	Model int // that wrote it: 0 small, 1 large
}

// Pair is the two models, each with a KV cache for one sequence. One goroutine at a time.
type Pair struct {
	device *bindings.Device
	models [2]*sequence
	vocab  int // ids valid in both
}

// chunk is the most tokens of one step.
const chunk = 512

// sequence is one model with the one sequence that it holds.
type sequence struct {
	model  *bindings.Model
	arena  *bindings.Arena
	batch  *bindings.Batch
	pages  []int32
	length int // tokens in the KV cache
}

// Open loads the two files for sequences of at most `context` tokens.
func Open(library *bindings.Library, small, large string, context int) (*Pair, error) {
	device, err := library.OpenDevice(bindings.DeviceOptions{})
	if err != nil {
		return nil, err
	}
	p := &Pair{device: device, vocab: math.MaxInt}
	for i, path := range []string{small, large} {
		s := &sequence{}
		p.models[i] = s
		if s.model, err = device.LoadModel(path, bindings.ModelOptions{}); err != nil {
			return nil, errors.Join(fmt.Errorf("load %s: %w", path, err), p.Close())
		}
		pages := (context + bindings.PageTokens - 1) / bindings.PageTokens
		if s.arena, err = s.model.NewArena(bindings.ArenaOptions{Pages: pages, MaxTokens: chunk, MaxRows: 1}); err != nil {
			return nil, errors.Join(err, p.Close())
		}
		s.batch = s.arena.NewBatch()
		for j := range pages {
			s.pages = append(s.pages, int32(j))
		}
		p.vocab = min(p.vocab, s.model.Info().Vocab)
	}
	return p, nil
}

// Close frees the models.
func (p *Pair) Close() error {
	var errs []error
	for _, s := range p.models {
		if s == nil {
			continue
		}
		if s.arena != nil {
			errs = append(errs, s.arena.Close())
		}
		if s.model != nil {
			errs = append(errs, s.model.Close())
		}
	}
	return errors.Join(append(errs, p.device.Close())...)
}

// next brings the sequence up to tokens and returns the answer at its end. stream is the model's index.
func (s *sequence) next(tokens []int32, vocab int, t Terms, stream uint32) (bindings.Answer, error) {
	for {
		take := min(chunk, len(tokens)-s.length)
		s.batch.Reset()
		s.batch.AddSegment(tokens[s.length:s.length+take], s.length, s.pages)
		last := s.length+take == len(tokens)
		if last {
			s.batch.AddRow(&bindings.Row{Offset: take - 1, Vocab: vocab, Sampling: &bindings.Sampling{
				Temperature: t.Temperature, Seed: t.Seed, Stream: stream,
			}})
		}
		if err := s.arena.Step(s.batch); err != nil {
			return bindings.Answer{}, err
		}
		s.length += take
		if last {
			return s.batch.Answer(0), nil
		}
	}
}

// Answer writes one answer (R-Stitch, Algorithm 1).
func (p *Pair) Answer(prompt []int32, t Terms) ([]Token, error) {
	const small, large = 0, 1
	tokens := slices.Clone(prompt)
	for _, s := range p.models {
		s.length = 0
	}
	var answer []Token
	for active := small; len(answer) < t.MaxTokens; {
		row, err := p.models[active].next(tokens, p.vocab, t, uint32(active))
		if err != nil {
			return nil, err
		}
		certain := float64(row.Entropy) <= t.Threshold*math.Log(float64(p.vocab))
		if active == small && !certain {
			active = large // the token is thrown away; the large model writes this position
			continue
		}
		tokens = append(tokens, row.Token)
		answer = append(answer, Token{row.Token, active})
		if slices.Contains(t.EndIDs, row.Token) {
			break
		}
		if certain {
			active = small
		}
	}
	return answer, nil
}
