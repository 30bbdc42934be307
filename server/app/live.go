package app

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/api"
	"github.com/tokenrouter/tokenrouter/server/config"
)

// live is the engine that answers now: it can be replaced by another, or freed while nobody asks and loaded again when
// somebody does. It implements api.Engine.
type live struct {
	log   zerolog.Logger
	base  context.Context // done when the server ends
	close sync.WaitGroup  // runtimes on their way out

	mu       sync.RWMutex
	runtime  *Runtime                                // nil: unloaded
	load     func(context.Context) (*Runtime, error) // makes it anew
	models   []string
	survives map[string]string // the entries of routes that go on without a model that fails
	policy   sched.Policy
	idle     time.Duration // after which it is unloaded; 0: never
	errs     []error       // of runtimes that were closed

	touched time.Time     // when somebody asked last; under wake
	wake    sync.Mutex    // held by whoever loads
	changed chan struct{} // told of a new idle time
}

func newLive(base context.Context, log zerolog.Logger) *live {
	return &live{log: log, base: base, touched: time.Now(), changed: make(chan struct{}, 1)}
}

// replace makes another runtime answer from now on. The old one ends when its requests have, at the latest when patience is over.
func (l *live) replace(r *Runtime, loader *Loader, idle, patience time.Duration) {
	l.mu.Lock()
	old := l.runtime
	l.runtime, l.load, l.idle = r, loader.again, idle
	l.policy, l.models = sched.Policy(loader.plan.cfg.Batching.Policy), l.models[:0]
	for i := range loader.plan.models {
		l.models = append(l.models, loader.plan.models[i].Name)
	}
	l.survives = map[string]string{}
	for _, route := range loader.plan.cfg.Routes {
		if route.OnPeerFailure == config.Continue {
			l.survives[route.Name] = route.Models[0]
		}
	}
	l.mu.Unlock()
	l.touch()
	select {
	case l.changed <- struct{}{}:
	default:
	}
	if old != nil {
		l.close.Go(func() {
			ctx, cancel := context.WithTimeout(l.base, patience)
			defer cancel()
			l.free(ctx, old)
		})
	}
}

// setIdle changes after what time of silence models are unloaded.
func (l *live) setIdle(idle time.Duration) {
	l.mu.Lock()
	l.idle = idle
	l.mu.Unlock()
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// free closes a runtime and gives its memory back to the system.
func (l *live) free(ctx context.Context, r *Runtime) {
	if err := r.Close(ctx); err != nil {
		l.log.Error().Err(err).Msg("an engine did not end well")
		l.mu.Lock()
		l.errs = append(l.errs, err)
		l.mu.Unlock()
	}
	debug.FreeOSMemory()
}

func (l *live) touch() {
	l.wake.Lock()
	l.touched = time.Now()
	l.wake.Unlock()
}

// Submit implements api.Engine. Models that are unloaded are loaded first.
func (l *live) Submit(ctx context.Context, r sched.Request) (api.Stream, error) {
	for {
		l.mu.RLock()
		if l.runtime != nil && len(l.runtime.away(r.Target)) == 0 {
			s, err := l.runtime.Engine.Submit(ctx, r) // under the lock: a runtime that has taken a request is not idle
			entry, survives := l.survives[r.Target]
			l.mu.RUnlock()
			switch {
			case err != nil:
				return nil, err // not s: a nil pointer in an interface is not nil
			case survives:
				return &survivor{submit: func(r sched.Request) (api.Stream, error) { return l.Submit(ctx, r) }, request: r, entry: entry, stream: s, lost: l.lost}, nil
			}
			return s, nil
		}
		l.mu.RUnlock()
		if err := l.awake(ctx, r.Target); err != nil {
			return nil, err
		}
	}
}

// lost tells the operator of a model that failed.
func (l *live) lost(model string, err error) {
	l.log.Error().Str("model", model).Err(err).Msg("a model failed; the entry of the route goes on alone")
}

// awake loads what is unloaded of what a target needs. Several requests wait for one load, which goes on when the client who wanted
// it has gone.
func (l *live) awake(ctx context.Context, target string) error {
	done := make(chan error, 1)
	l.close.Go(func() {
		l.wake.Lock()
		defer l.wake.Unlock()
		l.touched = time.Now()
		l.mu.RLock()
		now, load := l.runtime, l.load
		l.mu.RUnlock()
		if l.base.Err() != nil {
			done <- sched.ErrClosed
			return
		}
		if now != nil {
			done <- l.comeBack(now, target)
			return
		}
		begun := time.Now()
		r, err := load(l.base)
		if err != nil {
			l.log.Error().Err(err).Msg("the models cannot be loaded again")
			done <- err
			return
		}
		l.mu.Lock()
		l.runtime = r
		l.mu.Unlock()
		l.touched = time.Now()
		l.log.Info().Dur("took_ms", time.Since(begun)).Msg("models loaded again")
		done <- nil
	})
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Snapshot implements api.Engine. Models that are unloaded have no pages.
func (l *live) Snapshot() sched.Snapshot {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.runtime != nil {
		s := l.runtime.Engine.Snapshot()
		for i := range s.Models {
			if m := &s.Models[i]; !l.runtime.residents[m.Name].in.Load() {
				m.Pages, m.FreePages, m.Cached = 0, 0, 0
			}
		}
		return s
	}
	s := sched.Snapshot{Policy: l.policy}
	for _, name := range l.models {
		s.Models = append(s.Models, sched.ModelSnapshot{Name: name})
	}
	return s
}

// watch unloads the models whenever nobody has asked for long enough, until the server ends.
func (l *live) watch() {
	var busy uint64 // steps at the last look
	for {
		l.mu.RLock()
		idle := l.idle
		l.mu.RUnlock()
		pause := time.Hour
		if idle > 0 {
			pause = min(max(idle/4, 10*time.Millisecond), time.Minute)
		}
		select {
		case <-l.base.Done():
			return
		case <-l.changed:
			continue
		case <-time.After(pause):
		}
		if idle == 0 {
			continue
		}
		s := l.Snapshot()
		steps := uint64(0)
		for i := range s.Models {
			steps += s.Models[i].Steps
		}
		if s.Live > 0 || s.Queue > 0 || steps != busy {
			busy = steps
			l.touch()
			continue
		}
		l.rest(idle)
	}
}

// rest unloads the models if they have been idle for long enough.
func (l *live) rest(idle time.Duration) {
	l.wake.Lock()
	defer l.wake.Unlock()
	if time.Since(l.touched) < idle {
		return
	}
	l.mu.Lock()
	r := l.runtime
	if r == nil {
		l.mu.Unlock()
		return
	}
	if s := r.Engine.Snapshot(); s.Live > 0 || s.Queue > 0 {
		l.mu.Unlock()
		return
	}
	l.runtime = nil
	l.mu.Unlock()
	l.free(l.base, r)
	l.log.Info().Stringer("idle", idle).Msg("models unloaded; the next request loads them")
}

// end closes what runs when ctx is done at the latest, and waits for all that was on its way out.
func (l *live) end(ctx context.Context) error {
	l.wake.Lock() // nobody loads any more
	l.mu.Lock()
	r := l.runtime
	l.runtime = nil
	l.load = func(context.Context) (*Runtime, error) { return nil, sched.ErrClosed }
	l.mu.Unlock()
	l.wake.Unlock()
	var err error
	if r != nil {
		err = r.Close(ctx)
	}
	l.close.Wait()
	return errors.Join(append(l.errs, err)...)
}
