package sched

import "fmt"

// State is where a request stands at one subserver.
type State uint8

// States. A request that lost its KV pages is in no state of its own: the cache is a cache, the tokens are the truth, so
// it is waiting (or pending) with more tokens to extend.
const (
	Fresh    State = iota // not yet taken
	Waiting               // has tokens to extend and is not in a step
	Running               // in the step that is on the device now, or whose answer is being routed
	Pending               // away at a peer; its serving state and KV stay
	Finished              // over; nothing of it is left but a tombstone
	states
)

// String returns the state's name.
func (s State) String() string {
	if s >= states {
		return fmt.Sprintf("state %d", uint8(s))
	}
	return [states]string{"fresh", "waiting", "running", "pending", "finished"}[s]
}

// moves is the table of allowed moves, from row to column. Besides the moves that an algorithm causes, a request
// finishes wherever it stands: its owner may find a stop string, or its client may leave, at any moment. One that another
// model begins is pending at its entry from the start.
var moves = [states][states]bool{
	Fresh:   {Waiting: true, Pending: true},
	Waiting: {Running: true, Finished: true},
	Running: {Waiting: true, Pending: true, Finished: true},
	Pending: {Waiting: true, Finished: true},
}

// move returns `to`, or an error if the table does not allow the move.
func (s State) move(to State) (State, error) {
	if s >= states || to >= states || !moves[s][to] {
		return s, fmt.Errorf("illegal move of a request from %v to %v", s, to)
	}
	return to, nil
}
