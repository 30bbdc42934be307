package app

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/tokenrouter/tokenrouter/models/catalogue"
	"github.com/tokenrouter/tokenrouter/models/heads"
	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/config"
)

// checkHead checks that a route has a router head if its algorithm needs one, and that the head is for the algorithm and the entry.
func (p *plan) checkHead(at string, r *config.Route, a router.Algorithm) error {
	needed := a.Role(0, len(r.Models), params(r)).Needs.Head
	what := fmt.Sprintf("algorithm %q", r.Algorithm)
	if r.Strategy != "" {
		what += fmt.Sprintf(" with strategy %q", r.Strategy)
	}
	at += ".head"
	switch {
	case !needed && r.Head == "":
		return nil
	case !needed:
		return p.cfg.At(at, fmt.Errorf("route %q: %s needs no router head: leave the head out", r.Name, what))
	case r.Head == "":
		return p.cfg.At(at, fmt.Errorf("route %q: %s needs a router head for model %q: give its file (head: FILE.gguf)", r.Name, what, r.Models[0]))
	}
	h := p.heads[r.Head]
	if h == nil {
		var err error
		if h, err = openHead(r.Head); err != nil {
			return p.cfg.At(at, fmt.Errorf("route %q: %w", r.Name, err))
		}
		p.heads[r.Head] = h
	}
	entry := p.model(r.Models[0]).file.Info()
	switch {
	case h.Algorithm != "" && h.Algorithm != r.Algorithm:
		return p.cfg.At(at, fmt.Errorf("route %q: the router head %s was made for algorithm %q, whose scores mean something else to %q: use that algorithm, or a head for this one",
			r.Name, r.Head, h.Algorithm, r.Algorithm))
	case h.Embedding != entry.Embedding:
		return p.cfg.At(at, fmt.Errorf("route %q: the router head %s reads hidden states of %d values, those of model %q have %d: it was made for another model",
			r.Name, r.Head, h.Embedding, r.Models[0], entry.Embedding))
	}
	return nil
}

// openHead reads the header of the file that a route's head means.
func openHead(path string) (*heads.Head, error) {
	if name, ok := strings.CutPrefix(path, config.CataloguePrefix); ok {
		var err error
		if path, err = catalogue.Head(name); err != nil {
			return nil, err
		}
	}
	return heads.Open(path)
}

// params are those of the route, with the threshold that its head recommends where the route gives none.
func (p *plan) params(r *config.Route) router.Params {
	o := params(r)
	if h := p.heads[r.Head]; h != nil && o.Threshold == nil && o.LargeShare == nil {
		o.Threshold = h.Threshold
	}
	return o
}

// heads loads the router heads of a device's models, each file once for a model.
func (l *Loader) heads(d *device) error {
	for i, route := range l.plan.cfg.Routes {
		m := d.model(route.Models[0])
		if route.Head == "" || m == nil || m.heads[route.Head] != nil {
			continue
		}
		start := time.Now()
		file := l.plan.heads[route.Head].Path
		h, err := m.native.LoadHead(file)
		if err != nil {
			return l.plan.cfg.At(fmt.Sprintf("routes[%d].head", i), fmt.Errorf("route %q: %w", route.Name, err))
		}
		m.heads[route.Head] = h
		info := h.Info()
		l.options.Log.Info().Str("model", m.Name).Str("file", file).Str("head", info.Name).Str("kind", info.Kind).
			Uint64("parameters", info.Params).Str("memory", mebibytes(info.WeightBytes)).Dur("took_ms", time.Since(start)).Msg("router head loaded")
	}
	return nil
}

// model is the loaded model of that name; nil if it is on another device.
func (d *device) model(name string) *loaded {
	for _, m := range d.models {
		if m.Name == name {
			return m
		}
	}
	return nil
}

// head is the head of a route that begins at a model; nil if it has none.
func (l *Loader) head(r *Runtime, model, path string) sched.Head {
	h := l.plan.heads[path]
	if h == nil {
		return nil
	}
	return r.residents[model].head(path, h.Path)
}

// closeHeads frees the heads of a model.
func (m *loaded) closeHeads() error {
	var errs []error
	for path, h := range m.heads {
		if err := h.Close(); err != nil {
			errs = append(errs, fmt.Errorf("close router head %s: %w", path, err))
		}
	}
	m.heads = nil
	return errors.Join(errs...)
}

// headPrint tells the file of a route's head apart; nil if it has none.
func (l *Loader) headPrint(route string) *filePrint {
	for _, r := range l.plan.cfg.Routes {
		h := l.plan.heads[r.Head]
		if r.Name != route || h == nil {
			continue
		}
		print := &filePrint{Name: h.Name, Size: h.Size, Quantization: h.Kind}
		if stat, err := os.Stat(h.Path); err == nil {
			print.Modified = stat.ModTime().UnixNano()
		}
		return print
	}
	return nil
}
