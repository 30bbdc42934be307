package sched

import (
	"fmt"

	"github.com/tokenrouter/tokenrouter/router"
)

// Kind says what a message between subservers is.
type Kind uint8

// Kinds of message. All but Handoff are control messages; they ride on the same channel, in order.
const (
	Admitted  Kind = iota + 1 // the entry has taken a request of this route: count it as live; may bring the prompt, as Ahead does
	Handoff                   // here is the suffix: go on with the request
	Committed                 // to the owner: tokens that the sender committed
	Resend                    // the sender lacks tokens before the Start of a handoff: send again from Anchor on
	Done                      // the request is over (finished, cancelled, failed): free it and count it off
	Failed                    // to the owner: the sender cannot go on with the request; Reason says why
	Ahead                     // committed tokens that the receiver may extend before the request comes to it
)

// Message is what one subserver sends another about one request (paper, "request-centric programming"). It holds only
// plain data, so that it can be serialized, although version 1 passes it in process. Messages from one subserver to
// another are delivered in order.
type Message struct {
	Kind       Kind
	Request    string      // request ID
	Generation uint64      // raised when an ID is used again; a message of an older generation is dropped
	Sequence   uint64      // per sender and receiver, from 1, without gaps
	From, To   string      // names of models
	Start      int         // position of Tokens[0]: with Handoff and Ahead, how much the sender believes that the receiver knows
	Tokens     []int32     // Handoff, Ahead: the suffix that the receiver has not seen. Committed: the new tokens
	Anchor     int         // how long the sender's sequence is: an answer need only carry what comes after it
	Spec       *Spec       // with the first tokens for a peer, and when it asked for a resend from 0: the request's terms
	Infos      []TokenInfo // Committed: one per token
	Cached     int         // Committed: positions that the sender found in its KV cache before it first read the request
	Handoffs   int         // Handoff: handoffs since the last committed token, this one included
	Discarded  []Discard   // Handoff: tokens thrown away since the last committed token
	Draft      []Discard   // Handoff: guesses of the tokens that follow, for the receiver to judge
	Round      uint64      // Handoff, with StepSync: the round in which the last token was committed
	Threshold  *float64    // Handoff: the threshold that the request's share amounts to; nil: none was given
	Reason     string      // Done, Failed: why

	cause error // Failed: the error itself, as long as the message has not left the process
}

// Spec is what a subserver must know of a request beside its tokens. Immutable.
type Spec struct {
	Route     string   // name of the route; a model's own name when it is served alone
	Models    []string // models of the route, entry first
	Algorithm string
	Params    router.Params
	Prompt    int     // tokens of the prompt
	MaxLength int     // prompt + most tokens to write: a sequence of this length is finished
	Vocab     int     // ids valid in all models of the route
	End       []int32 // end-of-sequence ids: the union over the route's models
	IgnoreEnd bool
	Top       int // logprobs wanted per token beside the token's own
	LogProbs  bool
	Trace     bool
	Grammar   string // that the answer is in; "": any text
	Sampling  Sampling
	Lone      bool // nothing else of its client was being answered when it was admitted: it does not wait for others to begin
}

// TokenInfo tells the owner about one committed token.
type TokenInfo struct {
	Model       int     // index in the route of the model that wrote it
	LogProb     float32 // by that model, before bias, penalties and temperature
	Entropy     float32 // nats
	TopIDs      []int32
	TopLogProbs []float32
	Score       *Score    // with Spec.Trace: of the row that it was drawn from; nil: the algorithm had none there
	Handoffs    int       // handoffs since the token before
	Discarded   []Discard // tokens sampled for this position and thrown away, drafts for those after it among them
	Drafted     bool      // another model had drafted it
}

// Score is what an algorithm compared at one position, and with which threshold.
type Score struct {
	Value, Threshold float64 // finite
}

// Discard is a token that a model sampled and handed off without keeping, or one that it drafted, as long as that is not
// committed by another model.
type Discard struct {
	Model   int
	Token   int32
	LogProb float32
	Entropy float32
	Score   *Score // with Spec.Trace, as in TokenInfo
	Draft   bool
}

// check reports what makes a message unfit to be acted on, whatever is known of its request.
func (m *Message) check() error {
	switch {
	case m.Kind < Admitted || m.Kind > Ahead:
		return fmt.Errorf("unknown kind %d", m.Kind)
	case m.Start < 0 || m.Anchor < 0 || m.Cached < 0:
		return fmt.Errorf("negative position: start %d, anchor %d, cached %d", m.Start, m.Anchor, m.Cached)
	case m.Kind == Committed && len(m.Tokens) != len(m.Infos):
		return fmt.Errorf("%d tokens with %d accounts", len(m.Tokens), len(m.Infos))
	case len(m.Draft) > 0 && m.Kind != Handoff:
		return fmt.Errorf("drafts with a message of kind %d", m.Kind)
	case m.Spec != nil && len(m.Spec.Models) == 0:
		return fmt.Errorf("route without models")
	}
	for i := range m.Infos {
		if m.Infos[i].Model < 0 {
			return fmt.Errorf("token written by model %d", m.Infos[i].Model)
		}
	}
	return nil
}
