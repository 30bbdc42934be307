package simulate

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/sched/throughput"
)

// Scenario is what to simulate. Times are written with a unit, such as 30s.
type Scenario struct {
	Requests int      `yaml:"requests"` // live at a time: whenever one ends, another comes
	Prompt   int      `yaml:"prompt"`   // tokens of each prompt; default 32
	Tokens   int      `yaml:"tokens"`   // to write per request; default 256
	Models   []Model  `yaml:"models"`   // the entry first
	Routing  Routing  `yaml:"routing"`
	Batching Batching `yaml:"batching"`
	Duration Duration `yaml:"duration"` // virtual time that is measured; default 60s
	Warmup   Duration `yaml:"warmup"`   // before that; default a tenth of it
	Jitter   float64  `yaml:"jitter"`   // standard deviation of the logarithm of a step's time
	Seed     uint64   `yaml:"seed"`
	Changes  []Change `yaml:"changes"` // in the order of time
}

// Model is a simulated model.
type Model struct {
	Name    string `yaml:"name"`
	Device  string `yaml:"device"`  // models that name the same device take turns on it; default: one of its own
	Latency string `yaml:"latency"` // of a step: see throughput.ParseLatency
}

// Routing says how requests go between the models: one of three ways.
type Routing struct {
	Share   *float64  `yaml:"share"`   // two models: probability that the small one hands over
	Back    *float64  `yaml:"back"`    // with share: probability that the large one hands back after a token; default 1
	Weights []float64 `yaml:"weights"` // any number: probability that each writes the next token
}

// Batching says when a model starts.
type Batching struct {
	Policy    sched.Policy   `yaml:"policy"`    // default lazy
	Order     sched.Order    `yaml:"order"`     // of eager on a shared device
	Threshold map[string]int `yaml:"threshold"` // with lazy, by model; the others follow the throughput model
	MaxWait   Duration       `yaml:"max_wait"`  // 0: as the engine finds best
}

// Change is something that becomes different while the simulation runs.
type Change struct {
	At      Duration           `yaml:"at"` // from the beginning, warming up included
	Routing *Routing           `yaml:"routing"`
	Slower  map[string]float64 `yaml:"slower"` // by model: factor on all its times as they were given
}

// Duration is a time with a unit.
type Duration time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil || v < 0 {
		return fmt.Errorf("%q is no time such as 500ms or 30s", text)
	}
	*d = Duration(v)
	return nil
}

// Parse reads a scenario in YAML, fills in defaults, and checks it. Errors show the place.
func Parse(data []byte) (*Scenario, error) {
	s := &Scenario{}
	if err := decode(data, s); err != nil {
		return nil, fmt.Errorf("scenario: %w", err)
	}
	s.complete()
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("scenario: %w", err)
	}
	return s, nil
}

// decode reads YAML. The library panics on some texts that are no sensible YAML, such as a tag in front of a wrong value.
func decode(data []byte, s *Scenario) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the text is YAML that cannot be read (%v): expected keys with values, as in the examples", p)
		}
	}()
	return yaml.UnmarshalWithOptions(data, s, yaml.DisallowUnknownField())
}

func (s *Scenario) complete() {
	set := func(to *int, value int) {
		if *to == 0 {
			*to = value
		}
	}
	set(&s.Prompt, 32)
	set(&s.Tokens, 256)
	if s.Duration == 0 {
		s.Duration = Duration(time.Minute)
	}
	if s.Warmup == 0 {
		s.Warmup = s.Duration / 10
	}
	if s.Batching.Policy == "" {
		s.Batching.Policy = sched.Lazy
	}
	for i := range s.Models {
		if m := &s.Models[i]; m.Device == "" {
			m.Device = m.Name
		}
	}
}

func (s *Scenario) check() error {
	switch {
	case s.Requests < 1 || s.Requests > 4096:
		return fmt.Errorf("requests is %d, want 1 to 4096", s.Requests)
	case s.Prompt < 1 || s.Tokens < 1 || s.Prompt > 1<<20 || s.Tokens > 1<<24:
		return fmt.Errorf("prompts of %d and answers of %d tokens: want 1 or more, and no books", s.Prompt, s.Tokens)
	case !(s.Jitter >= 0 && s.Jitter <= 1):
		return fmt.Errorf("jitter is %g, want 0 to 1", s.Jitter)
	case len(s.Models) == 0:
		return errors.New("no models")
	case !slices.Contains(sched.Policies(), s.Batching.Policy):
		return fmt.Errorf("batching.policy is %q, want one of %q", s.Batching.Policy, sched.Policies())
	}
	names := make([]string, len(s.Models))
	for i, m := range s.Models {
		names[i] = m.Name
		if m.Name == "" || slices.Contains(names[:i], m.Name) {
			return fmt.Errorf("models[%d]: the name %q is empty or taken", i, m.Name)
		}
	}
	for name := range s.Batching.Threshold {
		if !slices.Contains(names, name) {
			return fmt.Errorf("batching.threshold: there is no model %q", name)
		}
	}
	if _, err := s.System(); err != nil {
		return err
	}
	for i, c := range s.Changes {
		if i > 0 && c.At < s.Changes[i-1].At {
			return fmt.Errorf("changes[%d] is at %v, before the one in front of it", i, time.Duration(c.At))
		}
		for name, factor := range c.Slower {
			if !slices.Contains(names, name) || !(factor > 0 && factor < 1e6) {
				return fmt.Errorf("changes[%d].slower: %q by %g: want a model and a factor above 0", i, name, factor)
			}
		}
		if c.Routing != nil {
			if _, _, err := c.Routing.matrices(len(s.Models)); err != nil {
				return fmt.Errorf("changes[%d].routing: %w", i, err)
			}
		}
	}
	return nil
}

// matrices turns the routing into P and C.
func (r *Routing) matrices(models int) (moves, commits [][]float64, err error) {
	probability := func(name string, x *float64) error {
		if x != nil && !(*x >= 0 && *x <= 1) {
			return fmt.Errorf("%s is %g, want 0 to 1", name, *x)
		}
		return nil
	}
	if err := errors.Join(probability("share", r.Share), probability("back", r.Back)); err != nil {
		return nil, nil, err
	}
	switch {
	case len(r.Weights) > 0 && r.Share == nil && r.Back == nil:
		if len(r.Weights) != models {
			return nil, nil, fmt.Errorf("%d weights for %d models", len(r.Weights), models)
		}
		moves, commits = throughput.Ensemble(r.Weights...)
	case models == 1 && r.Share == nil && r.Back == nil:
		moves, commits = [][]float64{{1}}, [][]float64{{1}}
	case r.Share == nil || models != 2:
		return nil, nil, fmt.Errorf("%d models: give share (and back) for two, weights for any number", models)
	case r.Back == nil:
		moves, commits = throughput.Asymmetric(*r.Share)
	default:
		moves, commits = throughput.Symmetric(*r.Share, *r.Back)
	}
	return moves, commits, nil
}

// System is the scenario as the throughput model sees it, at its beginning. Models share one device, or none does: a mixture
// is taken as separate.
func (s *Scenario) System() (*throughput.System, error) {
	moves, commits, err := s.Routing.matrices(len(s.Models))
	if err != nil {
		return nil, fmt.Errorf("routing: %w", err)
	}
	system := &throughput.System{Requests: s.Requests, P: moves, C: commits, Shared: len(s.Models) > 1}
	for i, m := range s.Models {
		latency, err := throughput.ParseLatency(m.Latency)
		if err != nil {
			return nil, fmt.Errorf("models[%d]: %w", i, err)
		}
		system.Latencies = append(system.Latencies, latency)
		system.Shared = system.Shared && m.Device == s.Models[0].Device
	}
	if err := system.Check(); err != nil {
		return nil, err
	}
	return system, nil
}
