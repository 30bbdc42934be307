package sched

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tokenrouter/tokenrouter/router"
)

// Defaults of Options.
const (
	defaultPrefillChunk   = 256
	defaultMaxBatchTokens = 512
	defaultMaxBatch       = 64
	defaultMaxLive        = 64
	defaultDevice         = "cpu"
)

// complete fills in defaults and reports the first option that makes no sense.
func (o *Options) complete() error {
	if len(o.Models) == 0 {
		return errors.New("no models: an engine needs at least one")
	}
	if o.Policy == "" {
		o.Policy = Eager
	}
	if !slices.Contains(Policies(), o.Policy) {
		return fmt.Errorf("unknown batching policy %q: want one of %q", o.Policy, Policies())
	}
	if o.Order == "" {
		o.Order = LargeFirst
	}
	if o.Order != LargeFirst && o.Order != SmallFirst {
		return fmt.Errorf("unknown order %q: want %q or %q", o.Order, LargeFirst, SmallFirst)
	}
	for _, f := range []struct {
		name  string
		value *int
		def   int
	}{
		{"PrefillChunk", &o.PrefillChunk, defaultPrefillChunk},
		{"MaxBatch", &o.MaxBatch, defaultMaxBatch},
		{"MaxBatchTokens", &o.MaxBatchTokens, max(defaultMaxBatchTokens, o.MaxBatch)},
		{"MaxLive", &o.MaxLive, defaultMaxLive},
	} {
		if *f.value < 0 {
			return fmt.Errorf("%s is %d, want 1 or more (0: %d)", f.name, *f.value, f.def)
		}
		if *f.value == 0 {
			*f.value = f.def
		}
	}
	if o.MaxQueue < 0 {
		return fmt.Errorf("MaxQueue is %d, want 0 or more", o.MaxQueue)
	}
	if o.MaxBatchTokens < o.MaxBatch {
		return fmt.Errorf("MaxBatchTokens is %d, less than the %d requests of a batch, which take a token each", o.MaxBatchTokens, o.MaxBatch)
	}
	for i := range o.Models {
		if err := o.Models[i].complete(); err != nil {
			return err
		}
	}
	return nil
}

func (m *ModelOptions) complete() error {
	if m.Device == "" {
		m.Device = defaultDevice
	}
	if m.Threshold == 0 {
		m.Threshold = 1
	}
	i := &m.Info
	switch {
	case m.Name == "":
		return errors.New("a model has no name")
	case m.Runner == nil:
		return fmt.Errorf("model %q has no runner", m.Name)
	case m.Threshold < 1 && m.Threshold != AutoThreshold:
		return fmt.Errorf("model %q: the batching threshold is %d, want 1 or more", m.Name, m.Threshold)
	case m.MaxWait < 0 && m.MaxWait != AutoWait:
		return fmt.Errorf("model %q: the maximal wait is %v, want 0 or more", m.Name, m.MaxWait)
	case i.Vocab < 1:
		return fmt.Errorf("model %q: the vocabulary has %d ids", m.Name, i.Vocab)
	case i.Pages < 1 || i.PageTokens < 1:
		return fmt.Errorf("model %q: the KV cache has %d pages of %d tokens", m.Name, i.Pages, i.PageTokens)
	case i.MaxContext < 2:
		return fmt.Errorf("model %q: the context is %d tokens, want at least 2", m.Name, i.MaxContext)
	case i.MaxTokens < 0 || i.MaxRows < 0:
		return fmt.Errorf("model %q: the runner takes %d tokens and %d rows", m.Name, i.MaxTokens, i.MaxRows)
	}
	return nil
}

// build makes devices, subservers and targets.
func (e *Engine) build() error {
	o := &e.options
	e.byName, e.targets = make(map[string]*subserver), make(map[string]*target)
	models := make(map[string]*ModelOptions)
	for i := range o.Models {
		m := &o.Models[i]
		if models[m.Name] != nil {
			return fmt.Errorf("model %q is named twice", m.Name)
		}
		s, err := newSubserver(e, m, 2*(o.MaxLive+o.MaxQueue)+1024)
		if err != nil {
			return err
		}
		models[m.Name], e.byName[m.Name] = m, s
		e.subservers = append(e.subservers, s)
		alone := RouteOptions{Name: m.Name, Algorithm: router.SingleName, Models: []string{m.Name}}
		e.targets[m.Name] = newTarget(alone, []*ModelOptions{m}, s)
	}
	if err := e.makeDevices(); err != nil {
		return err
	}
	for _, r := range o.Routes {
		t, err := e.route(r, models)
		if err != nil {
			return fmt.Errorf("route %q: %w", r.Name, err)
		}
		e.targets[r.Name] = t
	}
	e.rank()
	e.divide()
	e.allowAhead()
	return nil
}

// route checks a route and makes its target.
func (e *Engine) route(r RouteOptions, models map[string]*ModelOptions) (*target, error) {
	if r.Name == "" {
		return nil, errors.New("a route needs a name")
	}
	if e.targets[r.Name] != nil {
		return nil, errors.New("a model or a route of this name exists: both share one namespace")
	}
	if len(r.Models) == 0 {
		return nil, errors.New("a route needs models")
	}
	var own []*ModelOptions
	seen := make(map[string]bool)
	for _, name := range r.Models {
		if models[name] == nil {
			return nil, fmt.Errorf("there is no model %q", name)
		}
		if seen[name] {
			return nil, fmt.Errorf("model %q is named twice", name)
		}
		seen[name] = true
		own = append(own, models[name])
	}
	t := newTarget(r, own, e.byName[r.Models[0]])
	a, err := t.algorithmFor(r.Algorithm, r.Params)
	if err != nil {
		return nil, err
	}
	if err := t.checkOwnHead(a.Role(0, len(own), r.Params).Needs.Head, own[0].Runner); err != nil {
		return nil, err
	}
	return t, nil
}
