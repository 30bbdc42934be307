package collect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/tokenrouter/tokenrouter/sched"
)

const (
	typical = 512     // tokens of an answer with its prompt: where they are longer, some wait for room
	queue   = 1 << 20 // answers that wait, all of them at once: they are few bytes each
)

// writer lets a model write answers, many at a time, greedily: those that begin alike share what they have in common in the KV cache.
// Safe for concurrent use.
type writer struct{ engine *sched.Engine }

// newWriter makes the model's KV cache, for so many answers at a time of at most room tokens with their prompts.
func newWriter(model *sched.NativeModel, vocab, room, live int, end []int32) (*writer, error) {
	runner, err := model.NewRunner(sched.NativeLimits{
		Pages: max(live*typical, room+sched.NativePageTokens) / sched.NativePageTokens, MaxTokens: max(256, live), MaxRows: live,
	})
	if err != nil {
		return nil, err
	}
	info := runner.Info()
	info.Vocab, info.MaxContext, info.EndIDs = vocab, room, end
	engine, err := sched.NewEngine(sched.Options{
		Models:  []sched.ModelOptions{{Name: "model", Runner: runner, Info: info}},
		MaxLive: live, MaxBatch: live, MaxBatchTokens: max(256, live), MaxQueue: queue,
	})
	if err != nil {
		return nil, errors.Join(err, runner.Close())
	}
	return &writer{engine}, nil
}

// close frees the KV cache.
func (w *writer) close() error { return w.engine.Close(context.Background()) }

// finish appends the model's tokens until one that ends the answer, or until there are `most` tokens.
func (w *writer) finish(ctx context.Context, ids []int32, most int) ([]int32, error) {
	if len(ids) >= most {
		return ids, nil
	}
	ids = slices.Clone(ids)
	s, err := w.engine.Submit(ctx, sched.Request{Target: "model", Prompt: ids, MaxTokens: most - len(ids)})
	if err != nil {
		return nil, err
	}
	for {
		event, err := s.Next(ctx)
		if errors.Is(err, io.EOF) {
			return ids, nil
		}
		if err = errors.Join(err, event.Err); err != nil {
			return nil, err
		}
		if event.Finish == sched.FinishCancelled {
			return nil, fmt.Errorf("the answer was cut short: %w", context.Cause(ctx))
		}
		for _, token := range event.Tokens {
			ids = append(ids, token.ID)
		}
	}
}
