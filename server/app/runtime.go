package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/api"
	"github.com/tokenrouter/tokenrouter/server/openai"
)

// Runtime is a running engine with what it stands on.
type Runtime struct {
	Engine  *sched.Engine
	Targets []api.Target // routes first, in the order of the configuration
	devices []*device

	residents map[string]*resident // by name

	change   sync.Mutex // held while single models leave and come back, and while everything is freed
	released bool
}

// Close ends the engine, cancelling what still runs when ctx is done, and frees all memory.
func (r *Runtime) Close(ctx context.Context) error {
	err := r.Engine.Close(ctx)
	return errors.Join(err, r.release())
}

// release frees models and devices. The engine has closed the runners, but for those of models that came back since.
func (r *Runtime) release() error {
	r.change.Lock()
	defer r.change.Unlock()
	r.released = true
	var errs []error
	for _, m := range r.residents {
		errs = append(errs, m.Close())
	}
	for _, d := range r.devices {
		errs = append(errs, d.close())
	}
	r.devices = nil
	return errors.Join(errs...)
}

// targets lists what requests can name: routes, then models.
func (l *Loader) targets(o sched.Options) []api.Target {
	var list []api.Target
	for _, r := range o.Routes {
		list = append(list, l.target(o, r))
	}
	for _, m := range o.Models {
		list = append(list, l.target(o, sched.RouteOptions{Name: m.Name, Algorithm: router.SingleName, Models: []string{m.Name}}))
	}
	return list
}

// account notes what memory each model takes.
func (r *Runtime) account(o sched.Options) {
	for i := range r.Targets {
		t := &r.Targets[i]
		m := r.residents[t.Name]
		if m == nil {
			continue // a route
		}
		t.Memory = &openai.MemoryState{Weights: m.info.WeightBytes}
		for _, of := range o.Models {
			if of.Name == m.Name {
				t.Memory.KV = m.runner.KVBytes() * uint64(of.Info.Capacity())
			}
		}
	}
}

// target puts together what the models of a route have in common.
func (l *Loader) target(o sched.Options, r sched.RouteOptions) api.Target {
	t := api.Target{Name: r.Name, Algorithm: r.Algorithm, Params: r.Params, Models: r.Models, Created: time.Now()}
	print := fingerprint{Version: l.options.Version, Algorithm: r.Algorithm, Params: r.Params}
	for i, name := range r.Models {
		var info sched.Info
		for _, m := range o.Models {
			if m.Name == name {
				info = m.Info
			}
		}
		p := l.plan.model(name)
		if i == 0 {
			t.Text, t.Grammars = textOf(p.file), p.grammars
			t.Vocab, t.Context, t.Capacity = info.Vocab, info.MaxContext, info.Capacity()
		}
		t.Vocab, t.Context, t.Capacity = min(t.Vocab, info.Vocab), min(t.Context, info.MaxContext), min(t.Capacity, info.Capacity())
		file := p.file.Info()
		part := filePrint{Name: file.Name, Size: file.Size, Quantization: file.Quantization, ExactFloat: p.ExactFloat, KVType: p.KVType}
		if stat, err := os.Stat(p.Path); err == nil {
			part.Modified = stat.ModTime().UnixNano()
			if i == 0 {
				t.Created = stat.ModTime()
			}
		}
		print.Files = append(print.Files, part)
	}
	print.Head = l.headPrint(r.Name)
	t.Fingerprint = print.String()
	return t
}

// fingerprint is what decides answers, beside the request.
type fingerprint struct {
	Version   string
	Algorithm string
	Params    router.Params
	Files     []filePrint
	Head      *filePrint `json:",omitempty"`
}

// filePrint tells files apart without reading them whole.
type filePrint struct {
	Name         string
	Size         int64
	Modified     int64
	Quantization string
	ExactFloat   bool
	KVType       string
}

// String gives a short hash.
func (f fingerprint) String() string {
	text, err := json.Marshal(f)
	if err != nil { // a threshold that is no number: cannot come out of a configuration
		return "fp_unknown"
	}
	sum := sha256.Sum256(text)
	return "fp_" + hex.EncodeToString(sum[:5])
}
