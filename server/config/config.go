package config

import (
	"strconv"
	"strings"
)

// Config is a valid configuration with all defaults filled in. Its fields are documented in schema.json.
type Config struct {
	Models   []Model  `json:"models"`
	Routes   []Route  `json:"routes"`
	Devices  []Device `json:"devices"` // always holds the ones that the models name
	Batching Batching `json:"batching"`
	Server   Server   `json:"server"`

	source source
}

// Model is a model to load.
type Model struct {
	Name       string `json:"name"`
	Path       string `json:"path"` // absolute, or relative to the working directory if the configuration was, or CataloguePrefix and a name
	Device     string `json:"device"`
	Context    int    `json:"context"` // tokens; 0: what the file states
	ExactFloat bool   `json:"exact_float"`
	KVType     string `json:"kv_type"` // of the KV cache: f16 or q8_0
	// ChatTemplate is a file of Jinja that is used in place of the template in the GGUF file; "": that one. Its path is
	// like Path.
	ChatTemplate string `json:"chat_template"`
}

// Route is a named set of models that share the work by an algorithm.
type Route struct {
	Name       string    `json:"name"`
	Algorithm  string    `json:"algorithm"`
	Models     []string  `json:"models"` // the entry first
	Threshold  *float64  `json:"threshold"`
	LargeShare *float64  `json:"large_share"`
	Weights    []float64 `json:"weights"`
	Strategy   string    `json:"strategy"`
	Draft      *int      `json:"draft"`
	Head       string    `json:"head"` // file of a router head, a path like Model.Path, or CataloguePrefix and a name; "": none
	// OnPeerFailure is what becomes of an answer when a model other than the entry fails: FailAnswer or Continue.
	OnPeerFailure string `json:"on_peer_failure"`
}

// Device is what models run on.
type Device struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"`      // cpu, cuda, cuda:1
	Sharing  string `json:"sharing"`   // exclusive or concurrent
	Threads  int    `json:"threads"`   // 0: all cores that the process may use
	ISA      string `json:"isa"`       // "": the best one
	KVMemory Budget `json:"kv_memory"` // Auto: what is left, of a GPU
}

// GPU is the number of the GPU that the device is; false: it is the processor.
func (d *Device) GPU() (number int, ok bool) {
	if d.Kind == defaultDevice {
		return 0, false
	}
	_, digits, _ := strings.Cut(d.Kind, ":")
	number, _ = strconv.Atoi(digits) // none: 0; the schema lets nothing else through
	return number, true
}

// Values of Route.OnPeerFailure.
const (
	FailAnswer = "error"
	Continue   = "continue"
)

// Values of Device.Sharing.
const (
	Exclusive  = "exclusive"
	Concurrent = "concurrent"
)

// Batching says when a model starts a step and how large it may be.
type Batching struct {
	Policy       string     `json:"policy"`    // a sched.Policy
	Order        string     `json:"order"`     // a sched.Order
	Threshold    Thresholds `json:"threshold"` // by model name; a model that is not in it is Auto
	MaxWait      Wait       `json:"max_wait"`
	PrefixCache  bool       `json:"prefix_cache"`
	Ahead        bool       `json:"ahead"`
	PrefillChunk int        `json:"prefill_chunk"` // tokens
	MaxBatch     int        `json:"max_batch"`     // requests in a step
	MaxLive      int        `json:"max_live"`      // requests being answered
	MaxQueue     int        `json:"max_queue"`     // requests waiting to be
}

// Server says how the HTTP server behaves.
type Server struct {
	Listen          string   `json:"listen"`
	LogLevel        string   `json:"log_level"`
	LogFormat       string   `json:"log_format"`
	MaxBody         Size     `json:"max_body"`
	RequestTimeout  Duration `json:"request_timeout"`
	ShutdownTimeout Duration `json:"shutdown_timeout"`
	APIKeys         []string `json:"api_keys"`
	APIKeyFile      string   `json:"api_key_file"` // a path like Model.Path; "": none
	CORSOrigins     []string `json:"cors_origins"`
	TLS             *TLS     `json:"tls"`         // nil: plain HTTP
	IdleUnload      Duration `json:"idle_unload"` // 0: never
}

// TLS names the files of a certificate; paths like Model.Path.
type TLS struct {
	Cert string `json:"cert"`
	Key  string `json:"key"`
}

// Device returns the device of that name; false if there is none.
func (c *Config) Device(name string) (Device, bool) {
	for _, d := range c.Devices {
		if d.Name == name {
			return d, true
		}
	}
	return Device{}, false
}

// At makes an error about a part of the configuration that only showed when it was put to use ("models[1].path",
// "routes[0].threshold"). It carries the place in the file, if the configuration came from one.
func (c *Config) At(path string, err error) error {
	return &Error{File: c.source.file, Problems: []Problem{c.source.problem(path, false, err.Error())}, cause: err}
}
