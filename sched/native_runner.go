package sched

import (
	"errors"
	"fmt"
	"time"

	"github.com/tokenrouter/tokenrouter/bindings"
	"github.com/tokenrouter/tokenrouter/router"
)

// NativeLimits are the sizes of a native runner's KV cache and steps.
type NativeLimits struct {
	Pages     int    // pages of the KV cache, at least 1; see NativePages
	MaxTokens int    // most tokens that one step appends; 0: 512
	MaxRows   int    // most rows that one step asks for; 0: 64
	KVType    string // of the cache: NativeKVF16 or NativeKVQ80; "": the first
}

// NativeRunner is the [Runner] on a KV arena of the native library. The conversion of a batch uses the same memory from
// step to step. A token of -1 in an answer says that no id could be drawn.
type NativeRunner struct {
	model    *bindings.Model
	arena    *bindings.Arena
	batch    *bindings.Batch
	sampling bindings.Sampling // of the row that is being added; a field, so that it is not allocated for each
	masks    [][]uint32        // of rows whose own are too short for the model
	used     int               // of masks, in this step
	graphs   bool              // the device records steps

	began, ended time.Time // of the last call of the library
}

var (
	_ HeadRunner  = (*NativeRunner)(nil)
	_ GraphRunner = (*NativeRunner)(nil)
)

// NewNativeRunner allocates an arena on the model. The model must stay open until the runner is closed.
func NewNativeRunner(model *bindings.Model, limits NativeLimits) (*NativeRunner, error) {
	kv, err := kvTypeOf(limits.KVType)
	if err != nil {
		return nil, err
	}
	arena, err := model.NewArena(bindings.ArenaOptions{Pages: limits.Pages, MaxTokens: limits.MaxTokens, MaxRows: limits.MaxRows, KV: kv})
	if err != nil {
		return nil, fmt.Errorf("KV cache of %d pages: %w", limits.Pages, err)
	}
	counts, err := arena.Describe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("describe the KV cache: %w", err), arena.Close())
	}
	return &NativeRunner{model: model, arena: arena, batch: arena.NewBatch(), graphs: counts.Graphs}, nil
}

// Graphs implements [GraphRunner].
func (r *NativeRunner) Graphs() *GraphCounts {
	if !r.graphs {
		return nil
	}
	counts, err := r.arena.Describe()
	if err != nil {
		return nil // closed
	}
	return &GraphCounts{Hits: counts.GraphHits, Misses: counts.GraphMisses}
}

// Info is what the scheduler must know, but for EndIDs, which the model's vocabulary has. MaxContext is the context length
// that the file states.
func (r *NativeRunner) Info() Info {
	model, sizes := r.arena.Info(), r.arena.Options()
	return Info{
		Vocab:      model.Vocab,
		PageTokens: bindings.PageTokens,
		Pages:      sizes.Pages,
		MaxContext: model.ContextTrain,
		MaxTokens:  sizes.MaxTokens,
		MaxRows:    sizes.MaxRows,
	}
}

// Step runs the batch. Slices in the answers lie in native memory.
func (r *NativeRunner) Step(b *Batch) error {
	c := r.batch
	c.Reset()
	r.used = 0
	for i := range b.Segments {
		s := &b.Segments[i]
		c.AddSegment(s.Tokens, s.Position, s.Pages)
	}
	for i := range b.Rows {
		if err := r.addRow(&b.Rows[i]); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
	}
	r.began = time.Now()
	err := r.arena.Step(c)
	r.ended = time.Now()
	if errors.Is(err, bindings.ErrDevice) {
		return fmt.Errorf("%w: %w", ErrLost, err)
	} else if err != nil {
		return err
	}
	for i := range b.Rows {
		a := c.Answer(i)
		b.Rows[i].Out = router.Row{
			Token:     a.Token,
			LogProb:   a.LogProb,
			LogSumExp: a.LogSumExp,
			Entropy:   a.Entropy,
			TopIDs:    a.TopIDs,
			TopLogits: a.TopLogits,
			Hidden:    a.Hidden,
			HeadLogit: a.HeadLogit,
		}
	}
	return nil
}

// Called is when the native library was called for the last Step, and when it came back. No Step may be running.
func (r *NativeRunner) Called() (began, ended time.Time) { return r.began, r.ended }

func (r *NativeRunner) addRow(row *Row) error {
	native := bindings.Row{
		Segment: row.Segment,
		Offset:  row.Offset,
		Top:     row.Needs.Top,
		Hidden:  row.Needs.Hidden,
		Vocab:   row.Vocab,
	}
	if row.Head != nil {
		h, ok := row.Head.(*NativeHead)
		if !ok {
			return fmt.Errorf("its router head is a %T, not one of the native library", row.Head)
		}
		native.Head = h.head
	}
	s := row.Sampling
	if s == nil {
		r.batch.AddRow(&native)
		return nil
	}
	sampling := &r.sampling
	*sampling = bindings.Sampling{
		Temperature:       s.Temperature,
		TopK:              s.TopK,
		TopP:              s.TopP,
		MinP:              s.MinP,
		RepetitionPenalty: s.RepetitionPenalty,
		PresencePenalty:   s.PresencePenalty,
		FrequencyPenalty:  s.FrequencyPenalty,
		Seed:              s.Seed,
		Choice:            s.Choice,
		Stream:            row.Stream,
		BiasIDs:           s.BiasIDs,
		Bias:              s.Bias,
		Allowed:           r.mask(row.Allowed),
	}
	switch {
	case row.History != nil:
		sampling.SeenIDs, sampling.SeenCounts = row.History.IDs, row.History.Counts
	case s.RepetitionPenalty != 0 && s.RepetitionPenalty != 1, s.PresencePenalty != 0, s.FrequencyPenalty != 0:
		return fmt.Errorf("penalties are set, and the row has no history to apply them to")
	}
	native.Sampling = sampling
	r.batch.AddRow(&native)
	return nil
}

// mask returns a mask over all ids of the model. A route's own may be shorter: that of its entry, which has fewer ids.
func (r *NativeRunner) mask(words []uint32) []uint32 {
	need := (r.arena.Info().Vocab + 31) / 32
	if words == nil || len(words) >= need {
		return words
	}
	if r.used == len(r.masks) {
		r.masks = append(r.masks, make([]uint32, need))
	}
	long := r.masks[r.used]
	r.used++
	clear(long[copy(long, words):])
	return long
}

// CopyPage copies the keys and values of page from into page to: what a fork of a half-filled page needs. No Step may be
// running.
func (r *NativeRunner) CopyPage(from, to int32) error { return r.arena.CopyPage(from, to) }

// Close frees the KV cache. Slices in earlier answers must not be used any more. Closing twice does nothing.
func (r *NativeRunner) Close() error { return r.arena.Close() }
