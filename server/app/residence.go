package app

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/tokenrouter/tokenrouter/sched"
)

// Load implements api.Residence: it waits until a model is in memory. Where all were unloaded, all are loaded.
func (l *live) Load(ctx context.Context, model string) error { return l.awake(ctx, model) }

// lastTraces is how long Unload waits for requests that are just ending.
const lastTraces = 2 * time.Second

// Unload implements api.Residence.
func (l *live) Unload(ctx context.Context, model string) error {
	l.wake.Lock()
	defer l.wake.Unlock()
	for deadline := time.Now().Add(lastTraces); ; {
		r, err := l.vacate(model)
		var busy *sched.BusyError
		switch {
		case err == nil && r == nil:
			return nil
		case err == nil:
			return l.leave(r, model)
		case !errors.As(err, &busy) || busy.Requests > 0 || time.Now().After(deadline):
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// vacate sees to it that no request comes to a model; nil: it is not in memory.
func (l *live) vacate(model string) (*Runtime, error) {
	l.mu.Lock() // nothing is submitted meanwhile
	defer l.mu.Unlock()
	if l.runtime == nil {
		return nil, nil
	}
	r := l.runtime.residents[model]
	switch {
	case r == nil:
		return nil, fmt.Errorf("%w: there is no %q", sched.ErrUnknownTarget, model)
	case !r.in.Load():
		return nil, nil
	}
	if err := l.runtime.Engine.Vacate(model); err != nil {
		return nil, err
	}
	r.in.Store(false)
	return l.runtime, nil
}

// leave frees a model that no request can come to.
func (l *live) leave(r *Runtime, model string) error {
	r.change.Lock()
	defer r.change.Unlock()
	if r.released {
		return nil
	}
	err := r.residents[model].leave()
	debug.FreeOSMemory()
	if err != nil {
		l.log.Error().Err(err).Msg("a model did not end well")
		return err
	}
	l.log.Info().Str("model", model).Msg("model unloaded; the next request for it loads it")
	return nil
}

// comeBack loads the models of a target that are not in memory.
func (l *live) comeBack(r *Runtime, target string) error {
	r.change.Lock()
	defer r.change.Unlock()
	if r.released {
		return nil // another one has taken its place
	}
	for _, m := range r.away(target) {
		if err := m.comeBack(); err != nil {
			l.log.Error().Err(err).Msg("a model cannot be loaded again")
			return err
		}
		l.touched = time.Now()
	}
	return nil
}

// away lists the models of a target that are not in memory.
func (r *Runtime) away(target string) (list []*resident) {
	for i := range r.Targets {
		if r.Targets[i].Name != target {
			continue
		}
		for _, name := range r.Targets[i].Models {
			if m := r.residents[name]; !m.in.Load() {
				list = append(list, m)
			}
		}
	}
	return list
}
