package bindings

import (
	"fmt"
	"unsafe"
)

// Row is what a caller wants to know at one output position.
type Row struct {
	Segment  int       // number of the segment, by order of AddSegment
	Offset   int       // index in the segment of the token whose successor is wanted
	Top      int       // ids wanted in TopIDs, 0 to MaxTop
	Hidden   bool      // the hidden state after the final norm
	Logits   bool      // all raw logits: for tests and tools
	Vocab    int       // ids [0, Vocab) are in play; 0: all
	Valid    []uint32  // nil, or a further mask of ids in play: id i is bit i%32 of word i/32
	Sampling *Sampling // how to draw a token; nil: none is drawn
	Head     *Head     // that scores the row; nil: none
}

// Sampling is how a token is drawn. The zero value of a field means off; Temperature 0 is greedy.
type Sampling struct {
	Temperature       float32
	TopK              int32
	TopP              float32
	MinP              float32
	RepetitionPenalty float32
	PresencePenalty   float32
	FrequencyPenalty  float32
	Seed              uint64
	Choice            uint32
	Stream            uint32
	SeenIDs           []int32 // distinct, for the penalties
	SeenCounts        []int32 // one per SeenIDs
	BiasIDs           []int32 // distinct
	Bias              []float32
	Allowed           []uint32 // nil, or a mask like Row.Valid of ids that may be drawn
}

// Answer is what a step says at a row. The slices lie in native memory: they are valid until the next step on the arena
// or its end.
type Answer struct {
	Token     int32   // the drawn id; -1 if none was wanted, or none may be drawn
	LogProb   float32 // of Token, natural log, before bias, penalties and temperature
	LogSumExp float32 // natural log of the sum of exp(raw logit) over the ids in play
	Entropy   float32 // of the raw distribution over the ids in play, in nats
	TopIDs    []int32 // most likely first
	TopLogits []float32
	Hidden    []float32 // [ModelInfo.Embd] or nil
	Logits    []float32 // [ModelInfo.Vocab] or nil
	HeadLogit float32   // of Row.Head, before the logistic function; 0 without one, NaN if the row's logits are not finite
}

// Batch is the memory of one step's question and answer, used again from step to step: once it has grown to its size,
// filling and running it allocates nothing but the argument list of the call (32 bytes). The slices given to AddSegment and AddRow are not copied; they must not change
// until the step has returned. One goroutine at a time.
type Batch struct {
	arena     *Arena
	c         batch
	segments  []segment
	rows      []row
	samplings []sampling // one per row, in use where the row wants a token
	text      message
	err       error // the first thing wrong with what was added
	answered  bool
}

// NewBatch makes an empty batch for steps on the arena.
func (a *Arena) NewBatch() *Batch {
	rows := max(a.options.MaxRows, 1)
	return &Batch{
		arena:     a,
		segments:  make([]segment, 0, rows),
		rows:      make([]row, 0, rows),
		samplings: make([]sampling, 0, rows),
	}
}

// Reset empties the batch, and lets go of what it referred to.
func (b *Batch) Reset() {
	clear(b.segments)
	clear(b.rows)
	clear(b.samplings)
	b.segments, b.rows, b.samplings = b.segments[:0], b.rows[:0], b.samplings[:0]
	b.err, b.answered = nil, false
}

// AddSegment adds an extend: tokens to append to a sequence of which `position` tokens are in the KV cache, on the pages of
// its table. What is wrong with the values, Step says.
func (b *Batch) AddSegment(tokens []int32, position int, pages []int32) {
	b.segments = append(b.segments, segment{
		size:     segmentSize,
		position: b.int32("position", position),
		tokens:   unsafe.SliceData(tokens), // safe: nTokens elements stand there; alive through this struct
		pages:    unsafe.SliceData(pages),  // safe: nPages elements stand there; alive through this struct
		nTokens:  b.int32("tokens", len(tokens)),
		nPages:   b.int32("pages", len(pages)),
	})
}

// AddRow adds a wanted output position. What is wrong with the values, Step says. *r and its Sampling are copied, the
// slices in them are not.
func (b *Batch) AddRow(r *Row) {
	c := row{
		size:    rowSize,
		segment: b.int32("segment", r.Segment),
		offset:  b.int32("offset", r.Offset),
		nTop:    b.int32("top", r.Top),
		nValid:  b.int32("vocab", r.Vocab),
		valid:   b.mask("valid", r.Valid),
		token:   -1,
	}
	if r.Hidden {
		c.want |= wantHidden
	}
	if r.Logits {
		c.want |= wantLogits
	}
	if r.Head != nil {
		if err := r.Head.use(); err != nil {
			b.fail("row %d: %w", len(b.rows), err)
		} else {
			c.head = r.Head.handle // safe: not freed yet, and Close promises that no step is running
			r.Head.release()
		}
	}
	b.samplings = append(b.samplings, sampling{})
	if s := r.Sampling; s != nil {
		c.want |= wantToken
		b.sampling(&b.samplings[len(b.samplings)-1], s)
	}
	b.rows = append(b.rows, c)
}

func (b *Batch) sampling(c *sampling, s *Sampling) {
	if len(s.SeenIDs) != len(s.SeenCounts) {
		b.fail("sampling: %w: %d seen ids with %d counts", ErrArgument, len(s.SeenIDs), len(s.SeenCounts))
	}
	if len(s.BiasIDs) != len(s.Bias) {
		b.fail("sampling: %w: %d bias ids with %d biases", ErrArgument, len(s.BiasIDs), len(s.Bias))
	}
	*c = sampling{
		size:              samplingSize,
		temperature:       s.Temperature,
		topK:              s.TopK,
		topP:              s.TopP,
		minP:              s.MinP,
		repetitionPenalty: s.RepetitionPenalty,
		presencePenalty:   s.PresencePenalty,
		frequencyPenalty:  s.FrequencyPenalty,
		seed:              s.Seed,
		choice:            s.Choice,
		stream:            s.Stream,
		seenIds:           unsafe.SliceData(s.SeenIDs),    // safe: nSeen elements; alive through this struct
		seenCounts:        unsafe.SliceData(s.SeenCounts), // safe: as many, checked above
		biasIds:           unsafe.SliceData(s.BiasIDs),    // safe: nBias elements; alive through this struct
		bias:              unsafe.SliceData(s.Bias),       // safe: as many, checked above
		allowed:           b.mask("allowed", s.Allowed),
		nSeen:             b.int32("seen ids", len(s.SeenIDs)),
		nBias:             b.int32("bias ids", len(s.BiasIDs)),
	}
}

// mask is a bitmask over the vocabulary as the library reads it: its length does not go along, so it is a safety property
// that it is checked here.
func (b *Batch) mask(what string, words []uint32) *uint32 {
	if words == nil {
		return nil
	}
	if want := (b.arena.info.Vocab + 31) / 32; len(words) < want {
		b.fail("mask %s: %w: %d words, %d ids need %d", what, ErrArgument, len(words), b.arena.info.Vocab, want)
		return nil
	}
	return unsafe.SliceData(words) // safe: long enough, checked above; alive through the struct it goes into
}

// seal points the C structs at one another. It runs when no more is added, since adding may move the arrays.
func (b *Batch) seal() {
	for i := range b.rows {
		if b.rows[i].want&wantToken != 0 {
			b.rows[i].sampling = &b.samplings[i]
		}
	}
	b.c = batch{
		size:      batchSize,
		nSegments: b.int32("segments", len(b.segments)),
		nRows:     b.int32("rows", len(b.rows)),
		segments:  unsafe.SliceData(b.segments), // safe: nSegments elements; alive through this struct
		rows:      unsafe.SliceData(b.rows),     // safe: nRows elements; alive through this struct
	}
}

// Answer is the answer of the i-th row, by order of AddRow. Until Step has succeeded it is an empty one with Token -1.
func (b *Batch) Answer(i int) Answer {
	if !b.answered {
		return Answer{Token: -1}
	}
	r := &b.rows[i]
	return Answer{
		Token:     r.token,
		LogProb:   r.logprob,
		LogSumExp: r.logsumexp,
		Entropy:   r.entropy,
		TopIDs:    nativeSlice[int32](r.topIds, int(r.nTop)), // safe: the header's lengths; valid until the next step
		TopLogits: nativeSlice[float32](r.topLogits, int(r.nTop)),
		Hidden:    nativeSlice[float32](r.hidden, b.arena.info.Embd),
		Logits:    nativeSlice[float32](r.logits, b.arena.info.Vocab),
		HeadLogit: r.headLogit,
	}
}

// int32 converts for the library and notes a value that does not fit.
func (b *Batch) int32(what string, v int) int32 {
	if int(int32(v)) != v {
		_, err := int32Of(what, v)
		b.fail("%w", err)
		return 0
	}
	return int32(v)
}

func (b *Batch) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf("batch: "+format, args...)
	}
}
