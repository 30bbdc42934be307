package sched

import "github.com/tokenrouter/tokenrouter/router"

// Runner runs batched forward passes of one model. An implementation is driven by one goroutine at a time.
type Runner interface {
	// Step appends the tokens of every segment to its pages and fills Out of every row. A row's answer must depend on
	// nothing but its own sequence and parameters. Slices in Out are valid until the next Step. After an error nothing
	// of the batch counts as appended. An error that is [ErrLost] says that the device is gone: no step is asked of it, or of
	// other models on it, again.
	Step(b *Batch) error
	// Close frees what the runner holds. No Step may be running.
	Close() error
}

// Batch is one ragged extend.
type Batch struct {
	Segments []Segment
	Rows     []Row
}

// Segment is one request's part of a batch.
type Segment struct {
	Tokens   []int32 // to append, at least 1
	Position int     // tokens of the sequence in the KV cache before this step
	Pages    []int32 // page table, covering Position + len(Tokens) tokens
}

// Row is one wanted output position.
type Row struct {
	Segment  int          // index into Batch.Segments
	Offset   int          // index into its Tokens: the token whose successor is wanted
	Needs    router.Needs // what the algorithm, or the caller's logprobs, ask for
	Vocab    int          // ids [0, Vocab) are in play
	Stream   uint32       // random-number stream: the model's index in the route, or 0 (router.Role.AsAlone)
	Sampling *Sampling    // how the token is drawn
	Head     Head         // scores the row, which asks for at least Head.Top ids; nil: none
	Allowed  []uint32     // nil, or a mask as of Constraint.Mask: ids that may be drawn, applied after bias and penalties
	History  *History     // distinct ids so far with counts, for penalties; nil when none are set
	Out      router.Row   // the answer
}

// Sampling is how tokens of a request are drawn. The zero value of each field but Seed and Choice means off;
// Temperature 0 is greedy. Order of processing: bias, penalties, Row.Allowed, temperature, top-k, top-p, min-p, draw.
type Sampling struct {
	Temperature       float32
	TopK              int32
	TopP              float32 // 0 or 1: off
	MinP              float32
	RepetitionPenalty float32 // 0 or 1: off
	PresencePenalty   float32
	FrequencyPenalty  float32
	Seed              uint64
	Choice            uint32
	BiasIDs           []int32 // distinct
	Bias              []float32
}

// History is the distinct ids of a sequence with their counts, in order of first appearance.
type History struct {
	IDs    []int32
	Counts []int32
	index  map[int32]int
}

// Add counts one more appearance of each id. O(len(ids)).
func (h *History) Add(ids ...int32) {
	if h.index == nil {
		h.index = make(map[int32]int)
	}
	for _, id := range ids {
		i, ok := h.index[id]
		if !ok {
			i = len(h.IDs)
			h.index[id] = i
			h.IDs = append(h.IDs, id)
			h.Counts = append(h.Counts, 0)
		}
		h.Counts[i]++
	}
}
