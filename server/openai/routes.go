package openai

// RouteList is the answer of /v1/routes: what the routes are, and what the engine is doing at this moment.
type RouteList struct {
	Object string       `json:"object"`
	Data   []Route      `json:"data"`
	Models []ModelState `json:"models"`
	Policy string       `json:"policy"` // of batching: eager, lazy, step-sync or model-sync
	Live   int          `json:"live"`   // requests being answered
	Queue  int          `json:"queue"`  // requests that wait to be admitted

	Devices []DeviceState `json:"devices"` // that models are on; empty while they are unloaded

	Resident int64 `json:"resident,omitzero"` // bytes of memory that the whole process takes
}

// Route is a named set of models with an algorithm.
type Route struct {
	ID            string `json:"id"`
	Object        string `json:"object"`
	ContextLength int    `json:"context_length"`
	RouteDetail
	// DefaultThreshold is the one that holds for a request which gives none: the route's, or else the algorithm's own. Not there
	// where the algorithm compares no score.
	DefaultThreshold *float64 `json:"default_threshold,omitzero"`
}

// ModelState is what the subserver of a model is doing.
type ModelState struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Live    int    `json:"live"`    // live requests that may come here
	Waiting int    `json:"waiting"` // for a step
	Running int    `json:"running"` // in the step on the device
	Pending int    `json:"pending"` // away at a peer

	Batch   BatchState         `json:"batch"`
	KV      KVState            `json:"kv"`
	Latency *LatencyState      `json:"latency"` // null while it is not known
	Routing map[string]float64 `json:"routing"` // where requests go after a step, by model, as estimated; empty: none has come here yet
	Tokens  uint64             `json:"tokens"`  // written since the start
	Share   float64            `json:"share"`   // of the tokens of its routes that this model wrote

	Memory *MemoryState `json:"memory,omitzero"` // null: not known
	Graphs *GraphState  `json:"graphs,omitzero"` // not there where steps are not recorded
}

// GraphState counts the steps of a model on a GPU.
type GraphState struct {
	Hits   uint64 `json:"hits"`   // that ran as a graph, recorded from an earlier step of their shape
	Misses uint64 `json:"misses"` // others
}

// MemoryState is the memory of a model, in bytes, as the engine allocated it.
type MemoryState struct {
	Weights uint64 `json:"weights"`
	KV      uint64 `json:"kv"` // of the whole cache
}

// DeviceState is what models share.
type DeviceState struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Sharing string   `json:"sharing"` // exclusive: one step at a time; concurrent: steps of several models may overlap
	Models  []string `json:"models"`
	Lost    string   `json:"lost,omitzero"` // why no step succeeds any more; not there while they do
}

// BatchState is how requests are batched at a model.
type BatchState struct {
	Threshold int     `json:"threshold"`   // B: requests that a step waits for now, no more than can come and than fit
	Planned   int     `json:"planned"`     // B*: the same as configured, or as the throughput model finds best
	MaxWaitMS float64 `json:"max_wait_ms"` // longest wait for it; 0: no bound
	Last      int     `json:"last"`        // requests of the last step
	Steps     uint64  `json:"steps"`       // since the start
	Requests  uint64  `json:"requests"`    // of all steps: by Steps, the mean size of a batch
}

// KVState is the KV cache of a model, in tokens.
type KVState struct {
	Capacity int     `json:"capacity"`
	Used     int     `json:"used"`   // of requests
	Cached   int     `json:"cached"` // of earlier ones, kept until the room is needed
	Usage    float64 `json:"usage"`  // used / capacity
}

// LatencyState is an estimate of how long a step takes: base + per_request * requests + per_token * tokens, in milliseconds.
type LatencyState struct {
	Base       float64 `json:"base_ms"`
	PerRequest float64 `json:"per_request_ms"`
	PerToken   float64 `json:"per_token_ms"`
	Stretch    float64 `json:"stretch,omitzero"` // times as long while another model on the device steps, too; not there where it is not known
}
