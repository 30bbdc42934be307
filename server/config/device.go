package config

import (
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/tokenrouter/tokenrouter/internal/suggest"
)

// defaultDevice is there without being named in the file. It is a kind of device, too; devices whose name is a kind need no entry.
const defaultDevice = "cpu"

var kinds = regexp.MustCompile(`^(cpu|cuda(:[0-9]{1,3})?)$`)

// completeDevices fills in what the schema cannot say of the devices of a valid tree: defaults that depend on others.
func completeDevices(tree any) {
	root, _ := tree.(map[string]any)
	list, _ := root["devices"].([]any)
	for _, d := range list {
		if d, ok := d.(map[string]any); ok {
			completeDevice(d)
		}
	}
}

func completeDevice(d map[string]any) {
	if _, ok := d["kind"]; !ok {
		d["kind"] = defaultDevice
		if name, _ := d["name"].(string); kinds.MatchString(name) {
			d["kind"] = name
		}
	}
	if _, ok := d["kv_memory"]; !ok {
		d["kv_memory"] = "1GiB"
		if d["kind"] != defaultDevice {
			d["kv_memory"] = auto
		}
	}
}

// addDevices adds the device `cpu`, and those that models name by their kind, unless the file describes them.
func addDevices(c *Config) error {
	names := []string{defaultDevice}
	for _, m := range c.Models {
		if kinds.MatchString(m.Device) {
			names = append(names, m.Device)
		}
	}
	for _, name := range names {
		if _, ok := c.Device(name); ok {
			continue
		}
		tree := map[string]any{"name": name}
		completeDevice(tree)
		text, err := json.Marshal(fill(tree, compiled().Properties["devices"].Items2020))
		if err != nil {
			return fmt.Errorf("configuration: %w", err)
		}
		var d Device
		if err := json.Unmarshal(text, &d); err != nil {
			return fmt.Errorf("configuration: %w", err)
		}
		c.Devices = append(c.Devices, d)
	}
	return nil
}

// Move puts all models onto one device, one that the configuration describes or whose name is its kind.
func (c *Config) Move(device string) error {
	if _, ok := c.Device(device); !ok && !kinds.MatchString(device) {
		names := make([]string, len(c.Devices))
		for i, d := range c.Devices {
			names[i] = d.Name
		}
		return fmt.Errorf("no device is called %q%s; cpu, cuda, cuda:1 and the like are there without a configuration", device, suggest.Phrase(device, names))
	}
	for i := range c.Models {
		c.Models[i].Device = device
	}
	if err := addDevices(c); err != nil {
		return err
	}
	return failure(c.source.file, check(c))
}
