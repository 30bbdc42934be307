package config

import (
	"fmt"
	"net"
	"slices"
	"strconv"

	"github.com/tokenrouter/tokenrouter/internal/suggest"
)

// check reports what is wrong with a configuration beyond what its schema can say.
func check(c *Config) []Problem {
	k := checker{c: c}
	k.names()
	k.routes()
	k.devices()
	k.batching()
	k.server()
	return k.problems
}

type checker struct {
	c        *Config
	problems []Problem
}

func (k *checker) complain(path, format string, args ...any) {
	k.problems = append(k.problems, k.c.source.problem(path, false, fmt.Sprintf(format, args...)))
}

func (k *checker) models() []string {
	names := make([]string, len(k.c.Models))
	for i, m := range k.c.Models {
		names[i] = m.Name
	}
	return names
}

// names: models and routes share the namespace of the API's `model` field.
func (k *checker) names() {
	taken := map[string]string{}
	claim := func(name, path string) {
		if first, ok := taken[name]; ok {
			k.complain(path+".name", "%s is the name of %s already; names of models and routes must differ", name, first)
			return
		}
		taken[name] = path
	}
	for i, m := range k.c.Models {
		claim(m.Name, item("models", i))
	}
	for i, r := range k.c.Routes {
		claim(r.Name, item("routes", i))
	}
}

func (k *checker) routes() {
	known := k.models()
	for i, r := range k.c.Routes {
		for j, name := range r.Models {
			if !slices.Contains(known, name) {
				k.complain(item(item("routes", i)+".models", j), "no model is called %s%s", name, suggest.Phrase(name, known))
			}
		}
	}
}

func (k *checker) devices() {
	names := make([]string, len(k.c.Devices))
	for i, d := range k.c.Devices {
		if slices.Contains(names[:i], d.Name) {
			k.complain(item("devices", i)+".name", "a second device called %s", d.Name)
		}
		names[i] = d.Name
		k.device(item("devices", i), i, &d)
	}
	for i, m := range k.c.Models {
		if !slices.Contains(names, m.Device) {
			k.complain(item("models", i)+".device", "no device is called %s%s; cpu, cuda, cuda:1 and the like need no entry in devices", m.Device, suggest.Phrase(m.Device, names))
		}
	}
}

func (k *checker) device(path string, i int, d *Device) {
	number, gpu := d.GPU()
	switch {
	case d.KVMemory == 0:
		k.complain(path+".kv_memory", "the KV caches need memory; 0 was given")
	case d.KVMemory == Auto && !gpu:
		k.complain(path+".kv_memory", "auto is for GPUs; give a size, such as 1GiB, of the main memory, which other programs need, too")
	}
	if kinds.MatchString(d.Name) && d.Name != d.Kind {
		k.complain(path+".name", "%s is a device of that kind, and this one is of the kind %s: give it another name", d.Name, d.Kind)
	}
	if !gpu {
		return
	}
	for _, other := range k.c.Devices[:i] {
		if n, ok := other.GPU(); ok && n == number {
			k.complain(path+".kind", "%s and %s are the same GPU; models that share a GPU name the same device", other.Name, d.Name)
		}
	}
}

func (k *checker) batching() {
	known := k.models()
	names := make([]string, 0, len(k.c.Batching.Threshold))
	for name := range k.c.Batching.Threshold {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if !slices.Contains(known, name) {
			k.complain("batching.threshold."+name, "no model is called %s%s", name, suggest.Phrase(name, known))
		}
	}
	if len(names) > 0 && k.c.Batching.Policy != "lazy" {
		k.complain("batching.threshold", "thresholds are for policy lazy; the policy is %s", k.c.Batching.Policy)
	}
}

func (k *checker) server() {
	s := k.c.Server
	_, port, err := net.SplitHostPort(s.Listen)
	if n, perr := strconv.Atoi(port); err != nil || perr != nil || n < 0 || n > 65535 {
		k.complain("server.listen", "%q is not an address and port such as 127.0.0.1:8080 or :8080", s.Listen)
	}
	if s.MaxBody <= 0 {
		k.complain("server.max_body", "0 would refuse every request")
	}
	if s.RequestTimeout <= 0 {
		k.complain("server.request_timeout", "0 would refuse every request")
	}
}
