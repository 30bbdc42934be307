package app

import (
	"fmt"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/config"
)

// device is an open device with the models that are loaded on it.
type device struct {
	config.Device
	native *sched.NativeDevice
	models []*loaded
}

// loaded is a model with its weights in memory.
type loaded struct {
	*planned
	native *sched.NativeModel
	heads  map[string]*sched.NativeHead // by the path of the file
}

func openDevice(c config.Device, library string, log zerolog.Logger) (*device, error) {
	d, err := sched.OpenNativeDevice(sched.NativeOptions{Library: library, Threads: c.Threads, ISA: c.ISA})
	if err != nil {
		return nil, fmt.Errorf("device %q: %w", c.Name, err)
	}
	log.Info().Str("device", c.Name).Int("threads", d.Threads()).Str("isa", d.ISA()).Str("library", d.Library()).Msg("device open")
	return &device{Device: c, native: d}, nil
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
	load := d.native.LoadModel
	if m.ExactFloat {
		load = d.native.LoadExactModel
	}
	native, err := load(m.Path, progress)
	if err != nil {
		return fmt.Errorf("model %q: %w", m.Name, err)
	}
	d.models = append(d.models, &loaded{m, native, map[string]*sched.NativeHead{}})
	return nil
}

// pages divides the device's KV memory among its models: as many pages for each, but no more than all live requests
// together could fill.
func (d *device) pages(maxLive int) (int, error) {
	perToken := make([]uint64, len(d.models))
	longest := 0
	for i, m := range d.models {
		var err error
		if perToken[i], err = sched.NativeKVBytes(m.native.Info(), m.KVType); err != nil {
			return 0, fmt.Errorf("model %q: %w", m.Name, err)
		}
		longest = max(longest, m.context)
	}
	pages, err := sched.NativePages(uint64(d.KVMemory), perToken...)
	if err != nil {
		return 0, fmt.Errorf("device %q, kv_memory %s: %w", d.Name, d.KVMemory, err)
	}
	perRequest := (longest + sched.NativePageTokens - 1) / sched.NativePageTokens
	if maxLive <= pages/perRequest {
		pages = maxLive * perRequest
	}
	return pages, nil
}

func (d *device) close() error {
	for _, m := range d.models {
		if err := m.closeHeads(); err != nil {
			return err
		}
		if err := m.native.Close(); err != nil {
			return fmt.Errorf("close model %q: %w", m.Name, err)
		}
	}
	if err := d.native.Close(); err != nil {
		return fmt.Errorf("close device %q: %w", d.Name, err)
	}
	return nil
}
