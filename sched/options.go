package sched

import (
	"time"

	"github.com/tokenrouter/tokenrouter/router"
)

// Policy says when a model that is not running starts a batch.
type Policy string

// Policies. On an exclusive device a model runs when it is its turn: see Order.
const (
	// Eager starts whenever a request waits.
	Eager Policy = "eager"
	// Lazy waits for ModelOptions.Threshold requests. On an exclusive device a model for which enough wait goes before those
	// that are before it in the route; one for which too few wait runs only when nobody waits for these.
	Lazy Policy = "lazy"
	// StepSync makes all requests write one position together: a step of the entry on all, one of the next model on those
	// that were handed to it, and so on; then the next position. One model runs at a time. For comparisons.
	StepSync Policy = "step-sync"
	// ModelSync lets a model run until every request waits for another, which then runs in the same way. One model runs at
	// a time. For comparisons.
	ModelSync Policy = "model-sync"
)

// Policies lists the policies.
func Policies() []Policy { return []Policy{Eager, Lazy, StepSync, ModelSync} }

// Order says which of the models on an exclusive device an eager policy prefers.
type Order string

// Orders of Eager.
const (
	LargeFirst Order = "large-first" // the later in the route, whenever anything waits for it
	SmallFirst Order = "small-first" // the entry; another when nobody waits there, the one for which most wait
)

// Options configure an [Engine]. Zero in a field means the default stated there.
type Options struct {
	Models  []ModelOptions  // at least one; each is a target under its own name
	Routes  []RouteOptions  // names share one namespace with those of models
	Devices []DeviceOptions // devices that are not named here are exclusive
	Policy  Policy          // default Eager
	Order   Order           // of Eager on exclusive devices; default LargeFirst

	PrefillChunk   int // most tokens of one request in a step; default 256
	MaxBatchTokens int // most tokens in a step; default 512, at least MaxBatch
	MaxBatch       int // most requests in a step; default 64
	MaxLive        int // most requests being answered at a time; default 64
	MaxQueue       int // most requests waiting to be answered; more are refused with a QueueFullError, unless a single client has filled the queue. 0: none waits

	NoAhead       bool // models do not extend tokens before a request comes to them, not even those that take turns with nobody
	NoPrefixCache bool // full pages of the KV cache are not used again by requests that begin in the same way

	Observer *Observer // nil: nothing is recorded, at no cost
}

// ModelOptions are one model: its runner and how it is scheduled.
type ModelOptions struct {
	Name      string
	Runner    Runner // closed by Engine.Close
	Info      Info
	Grammars  Grammars // nil: requests whose route starts here have no grammar
	Text      Text     // nil: answers of routes that start here have tokens but no text, and take no stop strings
	Device    string   // models of the same name share a device, one step at a time unless it is concurrent; default "cpu"
	Threshold int      // B: with Lazy, requests that a batch waits for; default 1. AutoThreshold: what the throughput model says
	// MaxWait bounds how long a request waits for the threshold, from when it came to wait at this model. 0: no bound
	// (a batch still starts when nothing else happens anywhere). AutoWait: as long as gathering the threshold takes, several
	// times over.
	MaxWait time.Duration
}

// Values of ModelOptions that mean: as the engine finds best while it runs.
const (
	AutoThreshold = -1
	AutoWait      = time.Duration(-1)
)

// Info is what the scheduler must know of a model and of its KV cache.
type Info struct {
	Vocab      int     // ids [0, Vocab) are valid
	PageTokens int     // tokens of one KV page
	Pages      int     // pages of the KV cache, numbered from 0
	MaxContext int     // longest sequence in tokens
	EndIDs     []int32 // end-of-sequence ids
	MaxTokens  int     // most tokens that the runner takes in a step; 0: no limit of its own
	MaxRows    int     // most rows that the runner takes in a step; 0: no limit of its own
}

// Capacity is the number of tokens that the KV cache holds.
func (i Info) Capacity() int { return i.Pages * i.PageTokens }

// RouteOptions are a named set of models with an algorithm.
type RouteOptions struct {
	Name      string
	Algorithm string   // a name in router's registry
	Models    []string // the entry first
	Params    router.Params
	Head      Head // that the algorithm decides by, of the entry; nil for algorithms that need none
}

// DeviceOptions say how the models on a device share it.
type DeviceOptions struct {
	Name       string
	Concurrent bool // steps of several models may overlap; otherwise one step runs at a time
}

// Text turns the tokens of a model into text. Safe for concurrent use.
type Text interface {
	// Piece returns the bytes of one token; they may be part of a character. Unknown ids give "".
	Piece(id int32) string
	// NewDetokenizer returns a detokenizer for one answer. With special, special tokens show as text.
	NewDetokenizer(special bool) Detokenizer
}

// Detokenizer turns the tokens of one answer into text, in order. Used by one goroutine at a time.
type Detokenizer interface {
	// Add returns the text that id completes: whole characters only, what begins a character is held back.
	Add(id int32) string
	// Flush returns what is still held back, with U+FFFD for bytes that form no character.
	Flush() string
}
