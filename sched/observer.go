package sched

import "time"

// Observer holds hooks that record what the scheduler does. A nil hook costs nothing. Hooks are called from the loops
// of all subservers, several at a time; they must be quick, safe for concurrent use, and must not call the engine.
type Observer struct {
	Admit   func(AdmitRecord)              // when a request becomes live
	Batch   func(BatchRecord)              // after every step, when its rows have been routed
	Ahead   func(AheadRecord)              // after every step ahead of need
	Handoff func(HandoffRecord)            // after every handoff, when the request has become pending
	Resume  func(ResumeRecord)             // after every arrival of a request from a peer, when it has come to wait
	Turn    func(TurnRecord)               // after every turn of a client-server or inter-model loop that had something to do
	Fault   func(model string, err error)  // an invariant of the scheduler was found broken
	Lost    func(device string, err error) // a device is gone, which is said once
}

// Observers is all of them in one: each hook calls theirs, in order. Nil ones are left out.
func Observers(list ...*Observer) *Observer {
	all := &Observer{}
	for _, o := range list {
		if o == nil {
			continue
		}
		all.Admit = both(all.Admit, o.Admit)
		all.Batch = both(all.Batch, o.Batch)
		all.Ahead = both(all.Ahead, o.Ahead)
		all.Handoff = both(all.Handoff, o.Handoff)
		all.Resume = both(all.Resume, o.Resume)
		all.Turn = both(all.Turn, o.Turn)
		all.Fault, all.Lost = failing(all.Fault, o.Fault), failing(all.Lost, o.Lost)
	}
	return all
}

func both[T any](a, b func(T)) func(T) {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	default:
		return func(v T) { a(v); b(v) }
	}
}

func failing(a, b func(string, error)) func(string, error) {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	default:
		return func(name string, err error) { a(name, err); b(name, err) }
	}
}

// AdmitRecord is a request that has become live.
type AdmitRecord struct {
	Request string
	Model   string // its entry
	Prompt  int    // tokens
	Asked   time.Time
	Time    time.Time
}

// ResumeRecord is a request that a peer has handed over.
type ResumeRecord struct {
	Request  string
	From, To string
	Tokens   int           // appended
	Known    bool          // it was pending here; otherwise it is new
	Away     time.Duration // how long it was pending
	Time     time.Time
}

// TurnRecord is one turn of a loop that does not run the model.
type TurnRecord struct {
	Model      string
	Loop       string // "clients" or "peers"
	Items      int    // tasks or messages
	Start, End time.Time
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
	Recalled   int       // tokens that need not be extended: their pages were in the cache
	Ahead      int       // tokens that need not be extended: they had been ahead of need
	Waiting    int       // requests that waited at the model and are not in the batch
	Pending    int       // requests of this subserver that were away at a peer
	Evicted    int       // requests that lost their KV pages to make room for the batch
	Committed  int       // tokens that the batch wrote
	Drafted    int       // tokens that it drafted
	Accepted   int       // tokens that it wrote as another model had drafted them
	Rejected   int       // drafts of other models that proved wrong
	HandedOff  int       // requests that it handed off
	Threshold  int       // B when the batch started
	Requests   []string  // [segments] their IDs; the slice is valid during the call
	Lengths    []int     // [segments] tokens appended; likewise
	Waits      []Wait    // [segments] how long they had waited here; likewise
	Err        error     // of Runner.Step
}

// AheadRecord is one step of one model on requests that have not come to it yet. It has no rows.
type AheadRecord struct {
	Model      string
	Start, End time.Time // of Runner.Step
	Tokens     int
	Requests   []string // their IDs; the slice is valid during the call
	Lengths    []int    // tokens of each; likewise
	Err        error    // of Runner.Step
}

// Wait is how long a request waited at a model, for a threshold or for its turn, until a step took it.
type Wait struct {
	First bool // since its admission, where it begins: no step had taken it yet
	Time  time.Duration
}

// HandoffRecord is one request going from one model to another.
type HandoffRecord struct {
	Request  string
	From, To string
	Tokens   int  // tokens shipped
	Draft    int  // drafts shipped along
	Length   int  // of the sequence, with a token that was kept
	Kept     bool // the sampled token was committed
	Start    bool // it has just been admitted and begins there: no handoff in its account
	Time     time.Time
}

// observeTurn begins a turn of a loop, and returns what ends it.
func (s *subserver) observeTurn(loop string, items int) func() {
	f := s.engine.observer.Turn
	if f == nil || items == 0 {
		return func() {}
	}
	start := s.engine.now()
	return func() {
		f(TurnRecord{Model: s.name, Loop: loop, Items: items, Start: start, End: s.engine.now()})
	}
}
