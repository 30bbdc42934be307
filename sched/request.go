package sched

import "github.com/tokenrouter/tokenrouter/router"

// Request is a call as the engine takes it: tokens in, everything resolved by the server but the route.
type Request struct {
	ID        string // unique among live requests; empty: the engine makes one
	Client    string // who asks: clients are served in turn. Requests without one are of one client
	Target    string // name of a route or of a model
	Prompt    []int32
	Sampling  Sampling
	MaxTokens int      // most tokens to write; <= 0: as many as the context allows
	Stop      []string // the answer ends before the first of these
	IgnoreEnd bool     // go on after end-of-sequence (benchmarks)
	LogProbs  bool     // report log-probabilities
	Top       int      // alternatives per token, 0 to 20
	Special   bool     // emit the text of special tokens
	Algorithm string   // overrides the route's; "" : the route's
	Params    router.Params
	Trace     bool   // report Token.Info.Score and Discarded
	Grammar   string // that the answer is in, as the entry's Grammars take it; "": any text
}

// FinishReason says why an answer ended.
type FinishReason string

// Finish reasons, named as in the OpenAI API; Cancelled and Error are ours.
const (
	FinishStop      FinishReason = "stop"   // end-of-sequence or a stop string
	FinishLength    FinishReason = "length" // MaxTokens or the context length
	FinishCancelled FinishReason = "cancelled"
	FinishError     FinishReason = "error"
)

// Token is one committed token of an answer.
type Token struct {
	ID   int32
	Text string // its own bytes as text; may be part of a character
	End  bool   // an end-of-sequence token that ends the answer: counted, but never part of the text
	Info TokenInfo
}

// Event is a piece of an answer. Text never ends in half a character and never contains part of a stop string. Tokens
// are those committed since the last event whose text is not held back; those of all events together are the
// Summary.Completion tokens of the answer, the end-of-sequence token and those of a stop string included.
type Event struct {
	Text   string
	Tokens []Token
	Finish FinishReason // set on the last event
	Err    error        // with FinishError
}

// Summary is the account of a finished request.
type Summary struct {
	Prompt     int            // tokens of the prompt, counted once
	Cached     int            // those of them that the model that wrote the first token found in its KV cache, where earlier requests had left them
	Completion int            // committed tokens, a final end-of-sequence token included (as vLLM and llama-server count)
	Tokens     map[string]int // committed tokens by name of the model that wrote them
	Discarded  int            // tokens sampled and thrown away
	Drafted    int            // tokens that one model drafted and another one judged
	Accepted   int            // those of them that the other one wrote, too
	Handoffs   int            // times the request went from one model to another
	Route      string
	Algorithm  string
	Lost       string // a model that failed, without which the answer was ended; the engine itself never does that
}
