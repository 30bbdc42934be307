package main

import (
	"fmt"
	"strings"

	"github.com/tokenrouter/tokenrouter/models/fetch"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/config"
)

// gpus says what came of opening the GPUs. A machine without one is as it should be; one whose GPU does not work deserves a warning.
func (d *diagnosis) gpus() {
	for i := range d.Devices {
		switch p := &d.Devices[i]; {
		case !sched.IsCUDA(p.Kind):
		case p.Fault == "":
			d.add("gpu", good, fmt.Sprintf("%s: %s, compute capability %s, %s, %s free, driver for CUDA %s; run and serve take it with --device %s",
				p.Kind, p.Name, p.Capability, fetch.Size(p.Memory), fetch.Size(p.Free), p.Driver, p.Kind), "")
		case p.Fault == sched.FaultNoDriver && d.GPU.Driver == "":
			d.add("gpu", good, "no NVIDIA driver found; models run on the processor", "")
		default:
			found := p.Kind
			if d.GPU.Driver != "" {
				found = fmt.Sprintf("%s; NVIDIA driver %s, %s", p.Kind, d.GPU.Driver, strings.Join(d.GPU.Names, ", "))
			}
			d.add("gpu", warn, found, p.Reason)
		}
	}
}

// usable says what is wrong with a device that a configuration names; nil if nothing is, or if it is the processor.
func (d *diagnosis) usable(cfg *config.Config, name string) error {
	device, _ := cfg.Device(name)
	number, gpu := device.GPU()
	if !gpu {
		return nil
	}
	if list := d.Devices[1:]; number < len(list) {
		return list[number].Err()
	}
	return fmt.Errorf("there is no GPU %d", number)
}
