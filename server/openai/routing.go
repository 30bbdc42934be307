package openai

// Routing says who wrote an answer. It is TokenRouter's own extension.
type Routing struct {
	RoutingAccount
	Trace []TraceToken `json:"trace,omitzero"`
}

// RoutingPiece is the routing object of a chunk of a stream: the trace of what the chunk adds, and on the last chunk of the last
// choice the account.
type RoutingPiece struct {
	*RoutingAccount
	Trace []TraceToken `json:"trace,omitzero"`
}

// RoutingAccount counts who wrote how much.
type RoutingAccount struct {
	Route     string         `json:"route"` // the model's name when it was served alone
	Algorithm string         `json:"algorithm"`
	Tokens    map[string]int `json:"tokens"` // of the answer, by model
	Discarded int            `json:"discarded"`
	Drafted   int            `json:"drafted,omitzero"`  // tokens that one model drafted and another one judged
	Accepted  int            `json:"accepted,omitzero"` // those of them that are in the answer
	Handoffs  int            `json:"handoffs"`
	Lost      string         `json:"lost,omitzero"` // a model that failed: the entry wrote the rest alone
	Seed      *int64         `json:"seed,omitzero"` // with a trace: gives the same answer again
}

// TraceToken is one token of an answer.
type TraceToken struct {
	Choice  int     `json:"choice,omitzero"`
	Token   string  `json:"token"`
	ID      int32   `json:"id"`
	Model   string  `json:"model"`
	Drafted bool    `json:"drafted,omitzero"` // another model had drafted it
	Logprob float64 `json:"logprob"`
	Signals
	Handoffs     int            `json:"handoffs,omitzero"` // since the token before
	Discarded    []TraceDiscard `json:"discarded,omitzero"`
	Alternatives []Alternative  `json:"alternatives,omitzero"`
}

// TraceDiscard is a token that was sampled for the same position and thrown away, or one of the drafts thrown away there.
type TraceDiscard struct {
	Token   string  `json:"token"`
	ID      int32   `json:"id"`
	Model   string  `json:"model"`
	Draft   bool    `json:"draft,omitzero"` // for this position, or for one after it
	Logprob float64 `json:"logprob"`
	Signals
}

// Signals are what was known of a position before a token was drawn there: the entropy H of the model's distribution, before
// any sampling parameter, and what the algorithm compared with its threshold, if anything.
type Signals struct {
	Entropy    float64  `json:"entropy"`            // H, in nats: 0 to ln V, V the ids valid in all models of the route
	Normalized float64  `json:"entropy_normalized"` // H / ln V, 0 to 1
	Score      *float64 `json:"score,omitzero"`
	Threshold  *float64 `json:"threshold,omitzero"`
}

// Alternative is a token that could have been drawn.
type Alternative struct {
	Token   string  `json:"token"`
	ID      int32   `json:"id"`
	Logprob float64 `json:"logprob"`
}
