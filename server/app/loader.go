package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/api"
	"github.com/tokenrouter/tokenrouter/server/config"
	"github.com/tokenrouter/tokenrouter/server/machine"
)

// Loader brings a configuration into memory. Progress may be called at any time, the rest is for one goroutine.
type Loader struct {
	plan     *plan
	options  Options
	progress []atomic.Int32 // of each model, in thousandths
}

// Options configure what this package does. The zero value logs nothing and finds the native library by itself.
type Options struct {
	Log         zerolog.Logger
	Library     string          // path of libtokenrouter.so; "": where the bindings look
	CUDALibrary string          // path of libtokenrouter-cuda.so, likewise
	Prober      machine.Prober  // of GPUs
	Version     string          // of the program, part of the fingerprints of answers
	Observer    *sched.Observer // of the engine

	// Hooks of Serve, any of which may be nil: before weights are loaded, to show progress; when connections are taken;
	// when requests are answered.
	Loading   func(*Loader)
	Listening func(address string)
	Ready     func(*Runtime)

	// Reload tells Serve to take the configuration that Configure reads then. Both may be nil.
	Reload    <-chan struct{}
	Configure func() (*config.Config, error)
}

// NewLoader checks the configuration against the metadata of its files: whether they can be read, are whole, and go
// together. It reads no weights, and is quick.
func NewLoader(cfg *config.Config, o Options) (*Loader, error) {
	p, err := newPlan(cfg)
	if err != nil {
		return nil, err
	}
	return &Loader{plan: p, options: o, progress: make([]atomic.Int32, len(p.models))}, nil
}

// Progress says how far each model is. Safe for concurrent use.
func (l *Loader) Progress() []api.Loading {
	list := make([]api.Loading, len(l.progress))
	for i := range list {
		list[i] = api.Loading{Model: l.plan.models[i].Name, Progress: float64(l.progress[i].Load()) / 1000}
	}
	return list
}

// Fraction is how much of all weights is loaded, 0 to 1. Safe for concurrent use.
func (l *Loader) Fraction() float64 {
	var done, all float64
	for i := range l.progress {
		size := float64(l.plan.models[i].file.Info().Size)
		all += size
		done += size * float64(l.progress[i].Load()) / 1000
	}
	if all == 0 {
		return 1
	}
	return done / all
}

// Load loads the weights, allocates the KV caches and starts the engine. When ctx is done it ends after the model that is
// being loaded.
func (l *Loader) Load(ctx context.Context) (_ *Runtime, err error) {
	r := &Runtime{residents: map[string]*resident{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.release())
		}
	}()
	configs, err := l.plan.devices()
	if err != nil {
		return nil, err
	}
	for _, c := range configs {
		d, err := l.openDevice(ctx, c, configs)
		if err != nil {
			return nil, err
		}
		r.devices = append(r.devices, d)
		if err := l.weights(ctx, d); err != nil {
			return nil, err
		}
		if err := l.heads(d); err != nil {
			return nil, err
		}
	}
	if err := l.engine(r); err != nil {
		return nil, err
	}
	return r, nil
}

// weights loads the models of a device.
func (l *Loader) weights(ctx context.Context, d *device) error {
	for i := range l.plan.models {
		m := &l.plan.models[i]
		if m.Device != d.Name {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		start := time.Now()
		if err := d.load(m, &l.progress[i]); err != nil {
			return l.plan.cfg.At(fmt.Sprintf("models[%d].path", i), err)
		}
		l.progress[i].Store(1000)
		info, file := d.models[len(d.models)-1].info, m.file.Info()
		l.options.Log.Info().Str("model", m.Name).Str("file", m.Path).Str("architecture", info.Architecture).
			Str("quantization", file.Quantization).Uint64("parameters", info.Params).Str("memory", mebibytes(info.WeightBytes)).
			Int("context", m.context).Dur("took_ms", time.Since(start)).Msg("model loaded")
		if _, err := m.file.Chat(); err != nil {
			l.options.Log.Warn().Str("model", m.Name).Err(err).Msg("this model completes text, but does not chat")
		}
	}
	return nil
}

// rowsPerRequest is how many rows a full batch has room for, per request: drafts that are judged have a row each.
const rowsPerRequest = 4

// engine makes the runners and starts the scheduler on them.
func (l *Loader) engine(r *Runtime) error {
	cfg := l.plan.cfg
	b := cfg.Batching
	o := sched.Options{
		Policy: sched.Policy(b.Policy), Order: sched.Order(b.Order), NoPrefixCache: !b.PrefixCache, NoAhead: !b.Ahead, PrefillChunk: b.PrefillChunk, MaxBatch: b.MaxBatch, MaxLive: b.MaxLive, MaxQueue: b.MaxQueue,
		MaxBatchTokens: max(512, b.PrefillChunk, b.MaxBatch), Observer: l.options.Observer,
		Devices: sharing(r.devices),
	}
	runners := map[string]sched.ModelOptions{}
	started := false
	defer func() {
		if !started {
			for _, m := range runners {
				_ = m.Runner.Close() // the error that is on its way says more
			}
		}
	}()
	for _, d := range r.devices {
		pages, err := d.pages(b.MaxLive)
		if err != nil {
			return err
		}
		for _, m := range d.models {
			one, err := newResident(m, d, sched.NativeLimits{
				Pages: pages, MaxTokens: o.MaxBatchTokens, MaxRows: min(rowsPerRequest*b.MaxBatch, o.MaxBatchTokens), KVType: m.KVType,
			}, l.options.Log)
			if err != nil {
				return d.full(err)
			}
			r.residents[m.Name], runners[m.Name] = one, l.model(one)
		}
		l.options.Log.Info().Str("device", d.Name).Int("kv_tokens", d.tokens).Str("sharing", d.Sharing).Int("models", len(d.models)).Msg("KV capacity of each model on the device")
	}
	for _, m := range l.plan.models {
		o.Models = append(o.Models, runners[m.Name])
	}
	for _, route := range cfg.Routes {
		o.Routes = append(o.Routes, sched.RouteOptions{
			Name: route.Name, Algorithm: route.Algorithm, Models: route.Models, Params: l.plan.params(&route),
			Head: l.head(r, route.Models[0], route.Head),
		})
	}
	engine, err := sched.NewEngine(o)
	if err != nil {
		return err
	}
	started = true
	r.Engine, r.Targets = engine, l.targets(o)
	r.account(o)
	return nil
}

func mebibytes(n uint64) string { return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20)) }

// threshold is the configured one, or else 1 for what only ever is the entry of a route: waiting there never pays, unless its
// steps take as long as those of the others.
func (l *Loader) threshold(model string) int {
	cfg := l.plan.cfg
	if b, ok := cfg.Batching.Threshold[model]; ok {
		return b
	}
	for _, r := range cfg.Routes {
		if slices.Index(r.Models, model) > 0 {
			return sched.AutoThreshold
		}
	}
	return 1
}

// model describes a model to the scheduler.
func (l *Loader) model(m *resident) sched.ModelOptions {
	info := m.runner.Info()
	info.Vocab = min(info.Vocab, m.file.Tokenizer().VocabSize())
	info.MaxContext = min(info.MaxContext, m.context)
	info.EndIDs = m.file.EndIDs()
	b := l.plan.cfg.Batching
	l.options.Log.Info().Str("model", m.Name).Int("kv_tokens", info.Capacity()).Int("context", info.MaxContext).
		Str("memory", mebibytes(uint64(info.Capacity())*m.runner.KVBytes())).Msg("KV cache")
	return sched.ModelOptions{
		Name: m.Name, Runner: m, Info: info, Text: textOf(m.file), Grammars: m.grammars, Device: m.device.Name,
		Threshold: l.threshold(m.Name), MaxWait: time.Duration(b.MaxWait),
	}
}

// Memory is how many bytes of the main memory weights and KV caches will take: as much as the files, and what the devices are given for
// the caches.
func (l *Loader) Memory() int64 {
	var total int64
	devices := map[string]bool{}
	for i := range l.plan.models {
		m := &l.plan.models[i]
		if d, ok := l.plan.cfg.Device(m.Device); ok {
			if _, gpu := d.GPU(); gpu {
				continue
			}
		}
		total += m.file.Info().Size
		if d, ok := l.plan.cfg.Device(m.Device); ok && !devices[m.Device] {
			devices[m.Device] = true
			total += int64(d.KVMemory)
		}
	}
	return total
}
