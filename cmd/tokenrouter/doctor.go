package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tokenrouter/tokenrouter/models/catalogue"
	"github.com/tokenrouter/tokenrouter/models/fetch"
	"github.com/tokenrouter/tokenrouter/models/store"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/app"
	"github.com/tokenrouter/tokenrouter/server/config"
	"github.com/tokenrouter/tokenrouter/server/machine"
)

// verdict of a check.
type verdict string

const (
	good verdict = "ok"
	warn verdict = "warning" // it works, but not as well as it could
	bad  verdict = "problem" // nothing runs before this is put right
)

// check is one thing that was looked at. Names stay: scripts read them.
type check struct {
	Name    string  `json:"name"`
	Verdict verdict `json:"verdict"`
	Found   string  `json:"found"`            // in words
	Advice  string  `json:"advice,omitempty"` // what to do about it
}

// fit says whether a pair of the catalogue can be served here.
type fit struct {
	Pair    string  `json:"pair"`
	Fits    bool    `json:"fits"`
	Why     string  `json:"why"`
	Memory  int64   `json:"memory"`  // bytes that serving it takes, estimated
	ToPull  int64   `json:"to_pull"` // bytes that are not on this machine yet, estimated
	AtMost  float64 `json:"at_most"` // tokens/s of the large model alone, by the memory's speed; 0: not known
	Missing bool    `json:"missing"` // not all of it is on this machine
}

// diagnosis is what doctor finds.
type diagnosis struct {
	Version   string              `json:"version"`
	CPU       machine.CPU         `json:"cpu"`
	Memory    machine.Memory      `json:"memory"`
	Bandwidth float64             `json:"bandwidth"` // bytes/s; 0: not measured
	GPU       machine.GPU         `json:"gpu"`
	Devices   []sched.NativeProbe `json:"devices"` // the processor and the GPUs, as opened in other processes
	ISA       string              `json:"isa"`     // in use; "": the library does not load
	Threads   int                 `json:"threads"`
	Checks    []check             `json:"checks"`
	Pairs     []fit               `json:"pairs"`
}

var errProblems = errors.New("there are problems; see above")

func newDoctorCommand() *cobra.Command {
	var asJSON bool
	var configFile string
	var o sched.NativeOptions
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine can run, and why not more",
		Long: `Look at the processor, the memory and how fast it is (about a second), the native library, GPUs, the disk, and the configuration if
there is one; and compare each pair of the catalogue with the memory that is free now. Estimates are explained in docs/models.md.

The exit status is 1 if nothing can run, or the configuration cannot.`,
		Example: "  tokenrouter doctor --config tokenrouter.yaml\n  tokenrouter doctor --json | jq -r '.pairs[] | select(.fits) | .pair'",
		Args:    expectsNone,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := diagnose(cmd.Context(), configFile, o)
			if cmd.Context().Err() != nil {
				return errInterrupted
			}
			write := d.text
			if asJSON {
				write = d.json
			}
			if err := write(cmd); err != nil {
				return err
			}
			for _, c := range d.Checks {
				if c.Verdict == bad {
					return errProblems
				}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "print JSON")
	f.StringVarP(&configFile, "config", "c", "", "configuration `FILE` to check; default: the one that serve would use, if there is one")
	addLibraryFlags(cmd, &o.Library, &o.CUDALibrary)
	_ = cmd.MarkFlagFilename("config", "yaml", "yml", "json")
	return cmd
}

func diagnose(ctx context.Context, configFile string, o sched.NativeOptions) *diagnosis {
	d := &diagnosis{Version: version, CPU: machine.FindCPU(), Memory: machine.FindMemory(), GPU: machine.FindGPU(), Pairs: []fit{}}
	d.Devices = probeDevices(ctx, o)
	d.library(o.Library)
	d.processor()
	d.memory(ctx)
	d.gpus()
	s := d.disk()
	d.configuration(configFile)
	d.pairs(s)
	return d
}

func (d *diagnosis) add(name string, v verdict, found, advice string) {
	d.Checks = append(d.Checks, check{name, v, found, advice})
}

// library opens the native library as serve does.
func (d *diagnosis) library(path string) {
	device, err := sched.OpenNativeDevice(sched.NativeOptions{Library: path})
	if err != nil {
		d.add("library", bad, err.Error(), "")
		return
	}
	d.ISA, d.Threads = device.ISA(), device.Threads()
	d.add("library", good, device.Library(), "")
	if err := device.Close(); err != nil {
		d.add("library", bad, err.Error(), "")
	}
}

func (d *diagnosis) processor() {
	name := d.CPU.Name
	if name == "" {
		name = "not known"
	}
	found := fmt.Sprintf("%s, %s, %s", name, count(d.CPU.Cores, "core"), strings.Join(d.CPU.Features, " "))
	if d.ISA != "" {
		found += fmt.Sprintf("; kernels in use: %s, on %s", d.ISA, count(d.Threads, "thread"))
	}
	switch {
	case d.ISA == "reference":
		d.add("cpu", warn, found, "this processor lacks AVX2, FMA or F16C: models run, but slowly")
	case d.CPU.Quota > 0 && d.CPU.Quota < float64(d.Threads):
		d.add("cpu", warn, found, fmt.Sprintf("the container may use %.1f cores' worth of time: give --threads %d, or threads in the configuration, so that threads do not wait for each other", d.CPU.Quota, max(1, int(d.CPU.Quota))))
	default:
		d.add("cpu", good, found, "")
	}
}

func (d *diagnosis) memory(ctx context.Context) {
	m := d.Memory
	found := fmt.Sprintf("%s, %s available", fetch.Size(m.Total), fetch.Size(m.Available))
	if m.Limit > 0 {
		found += fmt.Sprintf("; the container is limited to %s", fetch.Size(m.Limit))
	}
	if m.Available < 1<<30 {
		d.add("memory", warn, found, "little is free: only the pair that is built in, and the smallest models, will run")
	} else {
		d.add("memory", good, found, "")
	}
	threads := min(max(d.Threads, 1), 16)
	bandwidth, err := machine.Bandwidth(ctx, threads, time.Second, m.Available)
	if err != nil {
		d.add("bandwidth", warn, err.Error(), "")
		return
	}
	d.Bandwidth = bandwidth
	d.add("bandwidth", good, fmt.Sprintf("%s/s from memory, measured on %s: a model of 1 GB writes at most about %.0f tokens/s for one request",
		fetch.Size(int64(bandwidth)), count(threads, "thread"), bandwidth/1e9), "")
}

// disk looks at where models are kept.
func (d *diagnosis) disk() *store.Store {
	s, err := store.Default()
	if err != nil {
		d.add("disk", warn, err.Error(), "")
		return nil
	}
	free, err := fetch.FreeSpace(existing(s.Dir))
	if err != nil {
		d.add("disk", warn, err.Error(), "")
		return s
	}
	d.add("disk", good, fmt.Sprintf("%s free for models in %s", fetch.Size(int64(free)), s.Dir), "")
	return s
}

// existing is the nearest directory above a path that is there.
func existing(path string) string {
	for {
		if _, err := os.Stat(path); err == nil || filepath.Dir(path) == path {
			return path
		}
		path = filepath.Dir(path)
	}
}

// configuration checks a configuration as serve would, short of loading weights, and what memory it takes.
func (d *diagnosis) configuration(file string) {
	if file == "" {
		found, err := config.Find()
		if err != nil {
			d.add("configuration", good, "none; serve takes --pair, --small and --large, or --demo instead", "")
			return
		}
		file = found
	}
	cfg, err := config.Load(file)
	if err != nil {
		d.add("configuration", bad, err.Error(), "")
		return
	}
	loader, err := app.NewLoader(cfg, app.Options{Version: version})
	if err == nil {
		err = app.CheckFiles(cfg)
	}
	if err != nil {
		d.add("configuration", bad, err.Error(), "")
		return
	}
	need := loader.Memory() + catalogue.Overhead
	found := fmt.Sprintf("%s: %s, %s; takes about %s", file, count(len(cfg.Models), "model"), count(len(cfg.Routes), "route"), fetch.Size(need))
	if need > d.Memory.Available {
		d.add("configuration", warn, found, fmt.Sprintf("only %s is available: take smaller models or less kv_memory", fetch.Size(d.Memory.Available)))
		return
	}
	for _, m := range cfg.Models {
		if err := d.usable(cfg, m.Device); err != nil {
			d.add("configuration", bad, found, fmt.Sprintf("model %q is on device %q: %v", m.Name, m.Device, err))
			return
		}
	}
	d.add("configuration", good, found, "")
}

// pairs compares the pairs of the catalogue with the machine.
func (d *diagnosis) pairs(s *store.Store) {
	for _, p := range catalogue.Pairs() {
		f := fit{Pair: p.Name, Memory: p.Memory(), Fits: true}
		for _, name := range p.Models {
			if s == nil {
				break
			}
			if _, err := s.Find(name); err != nil {
				size, _ := catalogue.Find(name).Size()
				f.ToPull += size
				f.Missing = true
			}
		}
		if d.Bandwidth > 0 {
			f.AtMost = d.Bandwidth / float64(catalogue.Find(p.Models[1]).ReadPerToken())
		}
		f.Why = fmt.Sprintf("takes about %s, %s available", fetch.Size(f.Memory), fetch.Size(d.Memory.Available))
		if f.Memory > d.Memory.Available {
			f.Fits = false
			if total := max(d.Memory.Total, 1); f.Memory > total || d.Memory.Limit > 0 && f.Memory > d.Memory.Limit {
				f.Why = fmt.Sprintf("takes about %s, this machine has %s", fetch.Size(f.Memory), fetch.Size(min(total, orAll(d.Memory.Limit))))
			}
		} else if s != nil && f.ToPull > 0 {
			if free, err := fetch.FreeSpace(existing(s.Dir)); err == nil && uint64(f.ToPull) > free {
				f.Fits = false
				f.Why = fmt.Sprintf("%s have to be pulled, %s is free on the disk", fetch.Size(f.ToPull), fetch.Size(int64(free)))
			}
		}
		if d.ISA == "" {
			f.Fits, f.Why = false, "the native library does not load"
		}
		d.Pairs = append(d.Pairs, f)
	}
}

// orAll is a limit, where there is one.
func orAll(limit int64) int64 {
	if limit == 0 {
		return 1<<63 - 1
	}
	return limit
}
