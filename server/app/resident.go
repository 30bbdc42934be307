package app

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/tokenrouter/tokenrouter/sched"
)

// resident is a model of a running engine whose weights and KV cache may leave memory, and come back, while the engine goes on.
// It implements sched.HeadRunner and sched.GraphRunner.
type resident struct {
	*loaded
	device *device
	limits sched.NativeLimits
	log    zerolog.Logger
	in     atomic.Bool // in memory, or about to leave it; requests are submitted only then

	mu     sync.Mutex // held during a step, too
	runner *sched.NativeRunner
	scores map[string]*residentHead // by what routes call them
}

// residentHead stands for a router head that comes and goes with its model.
type residentHead struct {
	sched.Head // as it was at first: of its facts nothing changes
	of         *resident
	path       string
	file       string
}

var (
	_ sched.HeadRunner  = (*resident)(nil)
	_ sched.GraphRunner = (*resident)(nil)
)

// newResident makes the runner of a model that is in memory.
func newResident(m *loaded, d *device, limits sched.NativeLimits, log zerolog.Logger) (*resident, error) {
	runner, err := m.native.NewRunner(limits)
	if err != nil {
		return nil, fmt.Errorf("model %q: %w", m.Name, err)
	}
	r := &resident{loaded: m, device: d, limits: limits, log: log, runner: runner, scores: map[string]*residentHead{}}
	r.in.Store(true)
	return r, nil
}

// head stands for one of the model's router heads; nil if it has none of that path.
func (r *resident) head(path, file string) sched.Head {
	h := r.heads[path]
	if h == nil {
		return nil // not the nil of *residentHead
	}
	if r.scores[path] == nil {
		r.scores[path] = &residentHead{h, r, path, file}
	}
	return r.scores[path]
}

// Step implements sched.Runner.
func (r *resident) Step(b *sched.Batch) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.runner == nil {
		return errors.New("it has been unloaded")
	}
	for i := range b.Rows {
		if h, ok := b.Rows[i].Head.(*residentHead); ok {
			b.Rows[i].Head = r.heads[h.path]
		}
	}
	return r.runner.Step(b)
}

// Graphs implements sched.GraphRunner.
func (r *resident) Graphs() *sched.GraphCounts {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.runner == nil {
		return nil
	}
	return r.runner.Graphs()
}

// CheckHead implements sched.HeadRunner.
func (r *resident) CheckHead(h sched.Head) error {
	if own, ok := h.(*residentHead); !ok || own.of != r {
		return fmt.Errorf("it is not one of the heads that were loaded with %q", r.Name)
	}
	return nil
}

// Close implements sched.Runner. The weights are the device's.
func (r *resident) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.runner == nil {
		return nil
	}
	err := r.runner.Close()
	r.runner = nil
	return err
}

// leave frees what the model takes. No request may come to it.
func (r *resident) leave() error {
	if err := r.Close(); err != nil {
		return fmt.Errorf("free the KV cache of model %q: %w", r.Name, err)
	}
	return r.free()
}

// comeBack loads the model again. Its file must be what it was.
func (r *resident) comeBack() error {
	start := time.Now()
	was := r.facts
	if err := r.read(r.device.native, new(atomic.Int32)); err != nil {
		return r.device.full(err)
	}
	if err := r.enter(was); err != nil {
		r.facts = was
		return errors.Join(r.device.full(err), r.free())
	}
	r.in.Store(true)
	r.log.Info().Str("model", r.Name).Dur("took_ms", time.Since(start)).Msg("model loaded again")
	return nil
}

// enter makes the runner of weights that have been read.
func (r *resident) enter(was facts) error {
	if r.info != was.info || r.size != was.size || !r.written.Equal(was.written) {
		return fmt.Errorf("model %q: %s is another file than it was: put the old one back, or restart the server", r.Name, r.Path)
	}
	for path, h := range r.scores {
		head, err := r.native.LoadHead(h.file)
		if err != nil {
			return fmt.Errorf("model %q: %w", r.Name, err)
		}
		r.heads[path] = head
		if head.Top() != h.Top() || head.Algorithm() != h.Algorithm() {
			return fmt.Errorf("model %q: the router head %s is another file than it was: put the old one back, or restart the server", r.Name, h.file)
		}
	}
	runner, err := r.native.NewRunner(r.limits)
	if err != nil {
		return fmt.Errorf("model %q: %w", r.Name, err)
	}
	r.mu.Lock()
	r.runner = runner
	r.mu.Unlock()
	return nil
}
