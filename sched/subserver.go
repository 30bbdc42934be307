package sched

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched/kv"
)

// subserver is one model with three loops that never wait for one another: clients (client-server), decode, and peers
// (inter-model). What they share is guarded by mu, which is held for bookkeeping only: never during a step, while
// sending, or while a user's Route function runs. Locks are taken in the order
//
//	subserver.mu -> domain.mu, gate.mu, clients.mu, peers.mu, engine.mu, Stream.mu (each of these alone)
//
// and no loop holds the mu of two subservers.
type subserver struct {
	engine *Engine
	name   string
	runner Runner
	info   Info
	domain *domain
	group  *group
	device *device
	rank   int // the highest place of this model in a route; 0: nobody hands off to it

	index int  // in Engine.subservers
	ahead bool // extends ahead of need; fixed

	threshold int           // B; AutoThreshold: in rules
	maxWait   time.Duration // AutoWait: in rules
	want      want          // guarded by domain.mu

	clients *clients
	peers   *peers
	wake    signal // of the decode loop

	mu       sync.Mutex
	requests map[string]*local
	waiting  queue
	counts   [states]int
	live     map[string]expected // requests that may come here, by ID: those admitted and not done
	visitors int                 // those of live that other models answer, too
	over     *tombstones
	pool     *kv.Pool
	blocked  bool // no waiting request fits in the cache: wait for a change
	crowded  bool // a queued request did not fit in the cache: tell the client-server loop of every release
	checked  bool // the pool's invariants have been checked since it was last used
	steps    uint64
	batch    int    // requests of the last step
	served   uint64 // requests of all steps
	written  uint64 // tokens
	observed observed
	rules    []rule // [live requests] of the planner; the zero rule: not yet known

	graphs atomic.Pointer[GraphCounts] // after the last step
	step   step                        // of the decode loop alone
}

func newSubserver(e *Engine, o *ModelOptions, tombs int) (*subserver, error) {
	pool, err := kv.NewPool(o.Info.Pages, o.Info.PageTokens)
	if err != nil {
		return nil, fmt.Errorf("model %q: %w", o.Name, err)
	}
	s := &subserver{
		engine: e, name: o.Name, runner: o.Runner, info: o.Info,
		threshold: o.Threshold, maxWait: o.MaxWait,
		wake:     newSignal(),
		requests: make(map[string]*local),
		live:     make(map[string]expected),
		over:     newTombstones(tombs),
		pool:     pool,
	}
	if e.options.Policy != Lazy {
		s.threshold = 1
	}
	s.index = len(e.subservers)
	s.rules = make([]rule, min(e.gate.most(), planMost)+1)
	s.observed.moves = make([]float64, len(e.options.Models))
	s.observed.commits = make([]float64, len(e.options.Models))
	s.clients, s.peers = newClients(s), newPeers(s)
	return s, nil
}

// start starts the three loops.
func (s *subserver) start() {
	s.engine.loops.Add(3)
	go s.clients.loop()
	go s.decode()
	go s.peers.loop()
}

// move changes a request's state. A move that the table forbids is a fault of the scheduler: it is reported and refused.
func (s *subserver) move(l *local, to State) bool {
	next, err := l.state.move(to)
	if err != nil {
		s.engine.fault(s.name, fmt.Errorf("request %q: %w", l.id, err))
		return false
	}
	if l.state == Waiting {
		s.waiting.remove(l)
	}
	s.counts[l.state]--
	s.counts[next]++
	l.state = next
	if next == Waiting {
		l.urgent = l.urgent || len(l.tokens) == l.spec.Prompt
		bounded := s.threshold != 1 && s.maxWait != 0
		if bounded || s.engine.observer.Batch != nil {
			l.since = s.engine.now()
		}
		if bounded && s.waiting.n == 0 {
			s.wake.raise() // to set its timer
		}
		l.pages = s.pool.PagesFor(len(l.sequence()) + 1)
		s.waiting.push(l)
		s.blocked = false
	}
	return true
}

// take makes a request known here, without tokens. If its ID is still in use by an older one, whose end must be on the
// way from another entry, that one ends now.
func (s *subserver) take(id string, generation uint64, spec *Spec, self int, role router.Role) *local {
	if old := s.requests[id]; old != nil {
		s.end(old)
	}
	l := &local{
		id: id, generation: generation, spec: spec, self: self, role: role,
		cache: s.pool.New(),
		known: make([]int, len(spec.Models)),
	}
	if role.Needs.Head {
		l.head = s.engine.targets[spec.Route].head
	}
	if spec.Sampling.penalized() {
		l.history = &History{}
	}
	l.grammar.begin(s.engine.targets[spec.Route], spec)
	s.requests[id] = l
	s.counts[Fresh]++
	s.checked = false
	return l
}

// admit makes a request of this subserver's own clients live.
func (s *subserver) admit(o *owner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expect(o.id, o.generation, len(o.spec.Models) > 1)
	l := s.take(o.id, o.generation, o.spec, 0, o.role)
	l.sharing = o.sharing
	l.append(o.prompt...)
	l.heralded(o)
	s.begins(l)
	s.publish()
	s.domain.nudge()
}

// expected is a request that may come to a model.
type expected struct {
	generation uint64
	visitor    bool // its route has other models
}

// expect counts a request as live here.
func (s *subserver) expect(id string, generation uint64, visitor bool) {
	s.unexpect(id, generation)
	if s.live[id].generation > generation {
		return
	}
	s.live[id] = expected{generation, visitor}
	if visitor {
		s.visitors++
	}
}

// unexpect counts a request off, if it is no newer.
func (s *subserver) unexpect(id string, generation uint64) {
	e, ok := s.live[id]
	if !ok || e.generation > generation {
		return
	}
	delete(s.live, id)
	if e.visitor {
		s.visitors--
	}
}

// release ends a request here, whatever it is doing. Late messages about it are dropped from now on.
func (s *subserver) release(id string, generation uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unexpect(id, generation)
	s.over.add(id, generation)
	if l := s.requests[id]; l != nil && l.generation <= generation {
		s.end(l)
	}
	s.publish() // the threshold may be lower, or pages free
	s.domain.nudge()
	if len(s.requests) == 0 {
		s.wake.raise() // to look at the books
	}
}

// end moves a request to finished and frees what it holds. A request in the step that is on the device keeps its pages
// until the step has ended, since they are being written.
func (s *subserver) end(l *local) {
	if !s.move(l, Finished) {
		return
	}
	s.over.add(l.id, l.generation)
	delete(s.requests, l.id)
	if !l.device {
		s.free(l)
	}
}

// free gives the pages of a finished request back.
func (s *subserver) free(l *local) {
	s.counts[Finished]--
	s.pool.Free(l.cache)
	s.blocked = false
	if s.crowded {
		s.crowded = false
		s.clients.push(task{kind: taskRoom})
	}
}

// roomFor reports whether the KV cache can take a further request with this prompt without taking pages from those that
// are here; for the only request of its client, from the only ones of theirs. A cache with nobody in it always can: what can
// never fit was refused at the door.
func (s *subserver) roomFor(prompt int, lone bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	pages := s.pool.PagesFor(prompt + 1)
	here := 0
	for _, l := range s.requests {
		if !l.guest && (l.spec.Lone || !lone) {
			here++
			pages += s.pool.PagesFor(len(l.sequence()) + 1)
		}
	}
	s.crowded = pages > s.pool.Pages() && here > 0
	return !s.crowded
}

// fail ends a request here that this model cannot go on with, and tells its owner.
func (s *subserver) fail(l *local, err error) {
	entry := l.spec.Models[0]
	id, generation := l.id, l.generation
	s.end(l)
	if l.self == 0 {
		s.clients.push(task{kind: taskFail, id: id, generation: generation, err: &ModelError{Model: s.name, Err: err}})
		return
	}
	s.peers.send(Message{Kind: Failed, Request: id, Generation: generation, To: entry, Reason: err.Error(), cause: err})
}
