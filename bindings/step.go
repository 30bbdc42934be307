package bindings

import (
	"fmt"
	"unsafe"
)

// What a row can want.
const (
	wantToken  = 1
	wantHidden = 2
	wantLogits = 4
)

// segment is tr_segment.
type segment struct {
	size     uint32
	position int32
	tokens   *int32
	pages    *int32
	nTokens  int32
	nPages   int32
}

// sampling is tr_sampling.
type sampling struct {
	size              uint32
	temperature       float32
	topK              int32
	topP              float32
	minP              float32
	repetitionPenalty float32
	presencePenalty   float32
	frequencyPenalty  float32
	seed              uint64
	choice            uint32
	stream            uint32
	seenIds           *int32
	seenCounts        *int32
	biasIds           *int32
	bias              *float32
	allowed           *uint32
	nSeen             int32
	nBias             int32
}

// row is tr_row. Its question holds Go pointers, its answer addresses of native memory.
type row struct {
	size     uint32
	want     uint32
	segment  int32
	offset   int32
	nTop     int32
	nValid   int32
	valid    *uint32
	sampling *sampling
	head     headHandle

	token     int32
	logprob   float32
	logsumexp float32
	entropy   float32
	topIds    uintptr
	topLogits uintptr
	hidden    uintptr
	logits    uintptr
	headLogit float32
}

// batch is tr_batch.
type batch struct {
	size      uint32
	nSegments int32
	nRows     int32
	reserved  int32
	segments  *segment
	rows      *row
}

// Sizes that go into every struct.
const (
	segmentSize  = uint32(unsafe.Sizeof(segment{}))  // safe: a constant
	samplingSize = uint32(unsafe.Sizeof(sampling{})) // safe: a constant
	rowSize      = uint32(unsafe.Sizeof(row{}))      // safe: a constant
	batchSize    = uint32(unsafe.Sizeof(batch{}))    // safe: a constant
)

// Step runs the batch: it appends every segment's tokens to its pages and answers every row. A row's answer is the same
// alone, in any batch and after any chunking. On an error nothing counts as appended; after [ErrArgument] nothing was
// written. A step of one's own goroutine on another arena may run at the same time.
func (a *Arena) Step(b *Batch) error {
	if b.arena != a {
		return fmt.Errorf("step: %w: the batch was made for another arena", ErrArgument)
	}
	b.answered = false
	if b.err != nil {
		return b.err
	}
	if err := a.use(); err != nil {
		return err
	}
	defer a.release()
	b.seal()
	if err := a.step(&b.c, &b.text); err != nil {
		return err
	}
	b.answered = true
	return nil
}

// tr_status tr_step(tr_arena *arena, const tr_batch *batch, char *err, size_t err_len);
func (a *Arena) step(c *batch, text *message) error {
	text.reset()
	status := call(a.library.fn.stepRun, uintptr(a.handle),
		uintptr(unsafe.Pointer(c)),                  // safe: mirrors tr_batch; call keeps it, and so all that it leads to, alive
		uintptr(unsafe.Pointer(text)), messageBytes) // safe: the length goes along; kept alive by call
	return text.failure("tr_step", status)
}
