package openai

// Residence is the answer of /v1/models/{model}/load and /unload.
type Residence struct {
	ID     string       `json:"id"`
	Object string       `json:"object"`
	Loaded bool         `json:"loaded"`
	Memory *MemoryState `json:"memory"` // that it takes now; null: none, or not known
}
