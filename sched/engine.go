package sched

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Engine answers requests with one subserver per model. Its methods are safe for concurrent use.
type Engine struct {
	options    Options
	observer   Observer
	subservers []*subserver // in the order of Options.Models
	byName     map[string]*subserver
	targets    map[string]*target
	gate       gate
	domains    []*domain
	devices    []*device // that models are on, in the order of these
	groups     []*group
	transit    atomic.Int64  // messages and routed rows that have not reached their model
	deliver    func(Message) // to the receiver's inter-model loop
	now        func() time.Time

	quit    chan struct{} // closed when the loops must end
	drained signal        // raised when a group becomes quiescent
	loops   sync.WaitGroup

	closing sync.Once
	closed  error // of Close

	mu         sync.Mutex
	ids        map[string]*Stream // of requests that are queued or live
	generation uint64             // of the last request
	queued     int
	live       int
	perClient  map[string]int // requests that are queued or live
	perModel   map[string]int // those of them whose route has the model
	pace       pace
	shut       bool          // no new requests
	empty      chan struct{} // closed when shut and no request is left
	broken     error         // the first fault
}

// NewEngine checks the options and starts the loops. The error says which option is wrong. On error the caller keeps
// the runners; otherwise the engine owns them.
func NewEngine(o Options) (*Engine, error) {
	e, err := newEngine(o, time.Now)
	if err != nil {
		return nil, err
	}
	if err := e.profile(); err != nil {
		return nil, fmt.Errorf("start of the engine: %w", err)
	}
	for _, s := range e.subservers {
		s.start()
	}
	for _, g := range e.groups {
		if g.planner != nil {
			e.loops.Add(1)
			go g.planner.loop()
		}
	}
	return e, nil
}

// profile measures the steps of the models whose thresholds follow them.
func (e *Engine) profile() error {
	for _, g := range e.groups {
		auto := slices.ContainsFunc(g.members, func(s *subserver) bool { return s.threshold == AutoThreshold })
		if !auto || g.planner == nil {
			continue
		}
		for _, s := range g.members {
			if err := s.profile(); err != nil {
				return err
			}
		}
	}
	return nil
}

// newEngine is NewEngine without the loops, and with a clock.
func newEngine(o Options, now func() time.Time) (*Engine, error) {
	o.Models = slices.Clone(o.Models) // defaults are filled in
	if err := o.complete(); err != nil {
		return nil, fmt.Errorf("options of the engine: %w", err)
	}
	e := &Engine{
		options: o,
		quit:    make(chan struct{}),
		drained: newSignal(),
		empty:   make(chan struct{}),
		ids:     make(map[string]*Stream),
		now:     now,

		perClient: make(map[string]int),
		perModel:  make(map[string]int),
	}
	e.gate.open(o.MaxLive)
	if o.Observer != nil {
		e.observer = *o.Observer
	}
	if err := e.build(); err != nil {
		return nil, fmt.Errorf("options of the engine: %w", err)
	}
	e.deliver = func(m Message) { e.byName[m.To].peers.accept(m) }
	return e, nil
}

// still reports whether everything that was sent has arrived, so that it is known who waits where.
func (e *Engine) still() bool { return e.transit.Load() == 0 }

// arrived counts off n things that were in transit.
func (e *Engine) arrived(n int) {
	if e.transit.Add(int64(-n)) == 0 {
		e.nudge()
		// A receiver may be through with a message before its sender has counted it off: who was woken because the group had become
		// quiescent then found something in transit, and asks again only if woken again.
		for _, g := range e.groups {
			g.rouse()
		}
	}
}

// nudge wakes those whose turn it is.
func (e *Engine) nudge() {
	for _, d := range e.domains {
		d.nudge()
	}
}

// Submit queues a request and returns its answer at once. Cancelling ctx cancels the request as Stream.Cancel does, at
// any time. Errors wrap ErrUnknownTarget, ErrInvalid, ErrTooLong, ErrQueueFull (a QueueFullError), ErrLost (of the entry) or ErrClosed and say the particulars.
func (e *Engine) Submit(ctx context.Context, r Request) (*Stream, error) {
	t := e.targets[r.Target]
	if t == nil {
		return nil, fmt.Errorf("%w: there is no %q", ErrUnknownTarget, r.Target)
	}
	if err := t.entry.device.gone(); err != nil {
		return nil, fmt.Errorf("model %q cannot answer: %w", t.entry.name, err)
	}
	spec, err := t.spec(&r)
	if err != nil {
		return nil, err
	}
	role, err := e.role(spec, 0)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	o := &owner{
		id: r.ID, spec: spec, role: role, prompt: slices.Clone(r.Prompt), position: spec.Prompt,
		text: t.text, stops: stops{strings: slices.Clone(r.Stop)}, stream: newStream(spec),
		client: r.Client, asked: e.now(),
	}
	o.sharing = t.shares.of(spec, role)
	if t.text != nil {
		o.detok = t.text.NewDetokenizer(r.Special)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.register(o); err != nil {
		return nil, err
	}
	clients := t.entry.clients
	o.stream.id = o.id
	o.stream.cancel = func() { clients.push(task{kind: taskCancel, id: o.id, generation: o.generation}) }
	// The cancellation of a context that is done already must come after the request.
	submitted := make(chan struct{})
	o.unwatch = context.AfterFunc(ctx, func() {
		<-submitted
		o.stream.cancel()
	})
	clients.push(task{kind: taskSubmit, id: o.id, generation: o.generation, owner: o})
	close(submitted)
	return o.stream, nil
}

// register counts a request in, gives it an ID if it has none, and a generation. The caller holds the lock.
func (e *Engine) register(o *owner) error {
	if e.shut {
		return ErrClosed
	}
	if full, own := e.full(o.client); full {
		return &QueueFullError{Live: e.live, Queued: e.queued, Own: own, Retry: e.pace.retry()}
	}
	if o.id == "" {
		o.id = fmt.Sprintf("request-%d", e.generation+1)
	}
	if e.ids[o.id] != nil {
		return fmt.Errorf("%w: the ID %q is in use by a live request", ErrInvalid, o.id)
	}
	e.generation++
	o.generation = e.generation
	e.ids[o.id] = o.stream
	e.queued++
	e.perClient[o.client]++
	for _, name := range o.spec.Models {
		e.perModel[name]++
	}
	return nil
}

// started counts a request from queued to live.
func (e *Engine) started() {
	e.mu.Lock()
	e.queued--
	e.live++
	e.mu.Unlock()
}

// ended counts a request out.
func (e *Engine) ended(o *owner) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.ids, o.id)
	if e.perClient[o.client]--; e.perClient[o.client] == 0 {
		delete(e.perClient, o.client)
	}
	for _, name := range o.spec.Models {
		e.perModel[name]--
	}
	if o.admitted {
		e.live--
		e.pace.ended(e.now(), len(e.ids) > 0)
	} else {
		e.queued--
	}
	if e.shut && len(e.ids) == 0 {
		close(e.empty)
	}
}

// fault records that an invariant is broken. It is shown by Snapshot and returned by Close.
func (e *Engine) fault(model string, err error) {
	e.mu.Lock()
	if e.broken == nil {
		e.broken = fmt.Errorf("model %q: %w", model, err)
	}
	e.mu.Unlock()
	if e.observer.Fault != nil {
		e.observer.Fault(model, err)
	}
}

// Close ends the engine: new requests are refused with ErrClosed, those queued and live go on until they end or ctx is
// done, whichever is first, and are then cancelled. It returns when all loops have ended and the runners are closed;
// the error joins those of the runners and the first fault. Later calls wait for the first and return the same.
func (e *Engine) Close(ctx context.Context) error {
	e.closing.Do(func() { e.closed = e.close(ctx) })
	return e.closed
}

func (e *Engine) close(ctx context.Context) error {
	e.mu.Lock()
	e.shut = true
	if len(e.ids) == 0 {
		close(e.empty)
	}
	e.mu.Unlock()
	select {
	case <-e.empty:
	case <-ctx.Done():
		e.mu.Lock()
		for _, stream := range e.ids {
			stream.cancel()
		}
		e.mu.Unlock()
		<-e.empty
	}
	e.settleDown()
	close(e.quit)
	e.loops.Wait()

	var errs []error
	for _, s := range e.subservers {
		if err := s.runner.Close(); err != nil {
			errs = append(errs, fmt.Errorf("close the runner of %q: %w", s.name, err))
		}
		s.audit()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return errors.Join(append(errs, e.broken)...)
}

// settleDown waits until the last messages have been handled and the last step has been routed.
func (e *Engine) settleDown() {
	for _, g := range e.groups {
		for !g.quiet() {
			<-e.drained
		}
	}
}
