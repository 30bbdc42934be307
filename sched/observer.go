package sched

import "time"

// Observer holds hooks that record what the scheduler does. A nil hook costs nothing. Hooks are called from the loops
// of all subservers, several at a time; they must be quick, safe for concurrent use, and must not call the engine.
type Observer struct {
	Batch   func(BatchRecord)             // after every step
	Handoff func(HandoffRecord)           // after every handoff, when the request has become pending
	Fault   func(model string, err error) // an invariant of the scheduler was found broken
}

// BatchRecord is one step of one model.
type BatchRecord struct {
	Model      string
	Start, End time.Time // of Runner.Step
	Segments   int       // requests in the batch
	Rows       int       // output positions
	Prefill    int       // tokens of prompts that were new to the model
	Decode     int       // tokens that the model itself had just written
	Resume     int       // tokens that came from peers
	Rebuild    int       // tokens of any kind extended again after an eviction
	Waiting    int       // requests that waited at the model and are not in the batch
	Pending    int       // requests of this subserver that were away at a peer
	Evicted    int       // requests that lost their KV pages to make room for the batch
	Err        error     // of Runner.Step
}

// HandoffRecord is one request going from one model to another.
type HandoffRecord struct {
	Request  string
	From, To string
	Tokens   int  // tokens shipped
	Length   int  // of the sequence, with a token that was kept
	Kept     bool // the sampled token was committed
	Time     time.Time
}
