package app

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tokenrouter/tokenrouter/models/fetch"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/config"
)

// What of a GPU's memory is not for weights and KV caches: a model's working memory for steps, and a part that allocations are rounded up
// by and other programs, a desktop's among them, come to need.
const (
	workingMemory = 256 << 20
	spareShare    = 0.02
)

// spare is what weights and KV caches of n models leave free on a GPU.
func (d *device) spare(n int) int64 {
	return int64(n)*workingMemory + int64(spareShare*float64(d.probe.Memory))
}

// enough reports before anything is loaded whether the weights of a GPU's models fit into what is free: they take about what the files do.
func (d *device) enough(models []*planned) error {
	var total int64
	var sizes, fits []string
	left := d.probe.Free - d.spare(0)
	for _, m := range models {
		size := m.file.Info().Size
		total += size + workingMemory
		sizes = append(sizes, fmt.Sprintf("%s %s", m.Name, fetch.Size(size)))
		if size+workingMemory <= left {
			fits = append(fits, m.Name)
			left -= size + workingMemory
		}
	}
	if total <= d.probe.Free-d.spare(0) {
		return nil
	}
	fitting := "none of them fits"
	if len(fits) > 0 {
		fitting = "there is room for " + strings.Join(fits, ", ")
	}
	return fmt.Errorf("out of memory: the models take %s (%s) with what steps need, and %s of the %s of %s are free: %s; take smaller ones, or put some on another device",
		fetch.Size(total), strings.Join(sizes, ", "), fetch.Size(d.probe.Free), fetch.Size(d.probe.Memory), d.probe.Name, fitting)
}

// left is what the loaded weights leave of a GPU's memory for KV caches.
func (d *device) left() int64 {
	left := d.probe.Free - d.spare(len(d.models))
	for _, m := range d.models {
		left -= int64(m.info.WeightBytes)
		for _, h := range m.heads {
			left -= int64(h.Info().WeightBytes)
		}
	}
	return max(left, 0)
}

// pages divides the device's KV memory among its models: as many pages for each, but no more than all live requests
// together could fill.
func (d *device) pages(maxLive int) (int, error) {
	perToken := make([]uint64, len(d.models))
	longest, all := 0, uint64(0)
	for i, m := range d.models {
		var err error
		if perToken[i], err = sched.NativeKVBytes(m.info, m.KVType); err != nil {
			return 0, fmt.Errorf("model %q: %w", m.Name, err)
		}
		longest = max(longest, m.context)
		all += perToken[i]
	}
	budget := int64(d.KVMemory)
	if _, gpu := d.GPU(); gpu {
		left := d.left()
		fit := fmt.Sprintf("the weights leave %s of the %s that are free, room for %d tokens", fetch.Size(left), fetch.Size(d.probe.Free), uint64(left)/all)
		switch {
		case left < int64(all)*sched.NativePageTokens:
			return 0, fmt.Errorf("device %q is out of memory: %s; take smaller models, or put some on another device", d.Name, fit)
		case d.KVMemory == config.Auto:
			budget = left
		case budget > left:
			return 0, fmt.Errorf("device %q is out of memory: kv_memory is %s, and %s; kv_memory: auto takes those", d.Name, d.KVMemory, fit)
		}
	}
	pages, err := sched.NativePages(uint64(budget), perToken...)
	if err != nil {
		return 0, fmt.Errorf("device %q, kv_memory %s: %w", d.Name, d.KVMemory, err)
	}
	perRequest := (longest + sched.NativePageTokens - 1) / sched.NativePageTokens
	if maxLive <= pages/perRequest {
		pages = maxLive * perRequest
	}
	d.tokens = pages * sched.NativePageTokens
	return pages, nil
}

// full says of an allocation that failed on a GPU what there was room for.
func (d *device) full(err error) error {
	if _, gpu := d.GPU(); !gpu || !errors.Is(err, sched.ErrNoMemory) {
		return err
	}
	var held []string
	for _, m := range d.models {
		if m.native != nil {
			held = append(held, fmt.Sprintf("%s %s", m.Name, fetch.Size(int64(m.info.WeightBytes))))
		}
	}
	if len(held) == 0 {
		held = []string{"nothing"}
	}
	return fmt.Errorf("device %q is out of memory: it holds %s, and %s of %s were free; take smaller models or less kv_memory, or put some on another device: %w",
		d.Name, strings.Join(held, ", "), fetch.Size(d.probe.Free), fetch.Size(d.probe.Memory), err)
}
