package app

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/config"
)

// device is an open device with the models that are loaded on it.
type device struct {
	config.Device
	native *sched.NativeDevice
	probe  sched.NativeProbe // of a GPU, from before anything was loaded
	models []*loaded
	tokens int // that the KV cache of each model has room for; 0: there is none yet
}

// loaded is a model with its weights in memory.
type loaded struct {
	*planned
	native *sched.NativeModel // nil: unloaded
	facts
	heads map[string]*sched.NativeHead // by what routes call them
}

// facts are what must not change from one loading of a model to the next: an engine, and what was said of it, counts on them.
type facts struct {
	info    sched.NativeInfo
	size    int64 // of the file, or the first one of several
	written time.Time
}

// nativeOptions say how a device is opened, beside others: whatever runs beside a GPU is opened in the same library, so that all have one
// pool of threads.
func (o *Options) nativeOptions(c config.Device, all []config.Device) sched.NativeOptions {
	n := sched.NativeOptions{Library: o.Library, CUDALibrary: o.CUDALibrary, Kind: c.Kind, Threads: c.Threads, ISA: c.ISA}
	for _, other := range all {
		if _, gpu := other.GPU(); gpu {
			n.CUDA = true
		}
		if n.Threads == 0 {
			n.Threads = other.Threads
		}
	}
	return n
}

// openDevice opens a device, a GPU after another process has tried to: a driver may crash or hang.
func (l *Loader) openDevice(ctx context.Context, c config.Device, all []config.Device) (*device, error) {
	d := &device{Device: c}
	o := l.options.nativeOptions(c, all)
	if _, gpu := c.GPU(); gpu {
		d.probe = l.options.Prober.Probe(ctx, o)
		if err := d.probe.Err(); err != nil {
			return nil, l.atDevice(c.Name, err)
		}
		l.options.Log.Info().Str("device", c.Name).Str("gpu", d.probe.Name).Str("capability", d.probe.Capability).Str("driver", d.probe.Driver).
			Str("memory", mebibytes(uint64(d.probe.Memory))).Str("free", mebibytes(uint64(d.probe.Free))).Msg("GPU found")
		if err := d.enough(l.plan.on(c.Name)); err != nil {
			return nil, l.atDevice(c.Name, err)
		}
	}
	var err error
	if d.native, err = sched.OpenNativeDevice(o); err != nil {
		return nil, l.atDevice(c.Name, err)
	}
	l.options.Log.Info().Str("device", c.Name).Str("kind", c.Kind).Int("threads", d.native.Threads()).Str("isa", d.native.ISA()).Str("library", d.native.Library()).Msg("device open")
	return d, nil
}

// atDevice is an error about a device: at its entry in the configuration, or where a model names it.
func (l *Loader) atDevice(name string, err error) error {
	err = fmt.Errorf("device %q: %w", name, err)
	i := slices.IndexFunc(l.plan.models, func(m planned) bool { return m.Device == name })
	return l.plan.cfg.At(fmt.Sprintf("models[%d].device", i), err)
}

// sharing says how the models on each device share it.
func sharing(devices []*device) []sched.DeviceOptions {
	list := make([]sched.DeviceOptions, len(devices))
	for i, d := range devices {
		list[i] = sched.DeviceOptions{Name: d.Name, Concurrent: d.Sharing == config.Concurrent}
	}
	return list
}

// load reads a model's weights. progress counts thousandths.
func (d *device) load(m *planned, progress *atomic.Int32) error {
	one := &loaded{planned: m}
	if err := one.read(d.native, progress); err != nil {
		return d.full(err)
	}
	d.models = append(d.models, one)
	return nil
}

// read reads the weights.
func (m *loaded) read(on *sched.NativeDevice, progress *atomic.Int32) error {
	load := on.LoadModel
	if m.ExactFloat {
		load = on.LoadExactModel
	}
	native, err := load(m.Path, progress)
	if err != nil {
		return fmt.Errorf("model %q: %w", m.Name, err)
	}
	m.native, m.facts, m.heads = native, facts{info: native.Info()}, map[string]*sched.NativeHead{}
	if stat, err := os.Stat(m.Path); err == nil {
		m.size, m.written = stat.Size(), stat.ModTime()
	}
	return nil
}

// free frees heads and weights, if they are there.
func (m *loaded) free() error {
	if m.native == nil {
		return nil
	}
	if err := m.closeHeads(); err != nil {
		return err
	}
	if err := m.native.Close(); err != nil {
		return fmt.Errorf("close model %q: %w", m.Name, err)
	}
	m.native = nil
	return nil
}

func (d *device) close() error {
	for _, m := range d.models {
		if err := m.free(); err != nil {
			return err
		}
	}
	if err := d.native.Close(); err != nil {
		return fmt.Errorf("close device %q: %w", d.Name, err)
	}
	return nil
}
