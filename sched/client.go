package sched

import (
	"slices"
	"sync"
)

// taskKind says what a client-server loop is asked to do.
type taskKind uint8

const (
	taskSubmit taskKind = iota + 1 // a new request: owner
	taskCommit                     // tokens were committed: id, generation, commit
	taskCancel                     // the client has left: id, generation
	taskFail                       // a model cannot go on: id, generation, err
	taskGrant                      // the gate has given this subserver a place
	taskRoom                       // a request has ended: there may be room for another
)

// task is a piece of work for a client-server loop.
type task struct {
	kind       taskKind
	id         string
	generation uint64
	owner      *owner
	commit     commit
	err        error
}

// clients is the client-server loop of a subserver: it admits the requests whose route starts here and owns their
// answers. Its queue and owners belong to the loop alone; only the tasks are shared.
type clients struct {
	s    *subserver
	wake signal

	mu    sync.Mutex
	tasks []task

	owners  map[string]*owner
	queue   []*owner // not yet admitted, in the order in which they came
	granted int      // places given by the gate and not yet used
	spare   []task
}

func newClients(s *subserver) *clients {
	return &clients{s: s, wake: newSignal(), owners: make(map[string]*owner)}
}

// push adds work. It never waits.
func (c *clients) push(tasks ...task) {
	if len(tasks) == 0 {
		return
	}
	c.s.group.add(len(tasks))
	c.mu.Lock()
	c.tasks = append(c.tasks, tasks...)
	c.mu.Unlock()
	c.wake.raise()
}

// loop works until the engine ends.
func (c *clients) loop() {
	defer c.s.engine.loops.Done()
	for {
		if c.turn() {
			continue
		}
		select {
		case <-c.wake:
		case <-c.s.engine.quit:
			return
		}
	}
}

// turn does the work that there is and reports whether there was any.
func (c *clients) turn() bool {
	c.mu.Lock()
	tasks := c.tasks
	c.tasks = c.spare[:0]
	c.mu.Unlock()
	defer c.s.observeTurn("clients", len(tasks))()
	for i := range tasks {
		c.do(&tasks[i])
	}
	c.admit()
	n := len(tasks)
	clear(tasks)
	c.spare = tasks
	if n > 0 {
		c.s.group.done(n)
	}
	return n > 0
}

func (c *clients) do(t *task) {
	switch t.kind {
	case taskSubmit:
		c.owners[t.id] = t.owner
		c.queue = append(c.queue, t.owner)
		return
	case taskGrant:
		c.granted++
		return
	case taskRoom:
		return // admit looks
	}
	o := c.owners[t.id]
	if o == nil || o.generation != t.generation {
		return // over
	}
	switch t.kind {
	case taskCommit:
		over, err := o.commit(t.commit)
		if err != nil {
			o.abort(FinishError, &ModelError{Model: c.s.name, Err: err})
			over = true
		}
		if over {
			c.end(o, "finished")
		}
	case taskCancel:
		o.abort(FinishCancelled, nil)
		c.end(o, "cancelled")
	case taskFail:
		o.abort(FinishError, t.err)
		c.end(o, "failed")
	}
}

// end frees a request everywhere, with one message to every subserver of the route, and then tells its client.
func (c *clients) end(o *owner, why string) {
	defer o.stream.push(o.last)
	if o.sharing != nil {
		o.sharing.wrote(o.stream.written())
	}
	delete(c.owners, o.id)
	o.unwatch()
	if !o.admitted {
		for i := range c.queue {
			if c.queue[i] == o {
				c.queue = append(c.queue[:i], c.queue[i+1:]...)
				break
			}
		}
		c.s.engine.ended(o)
		return
	}
	c.s.release(o.id, o.generation)
	for _, peer := range o.spec.Models[1:] {
		c.s.peers.send(Message{Kind: Done, Request: o.id, Generation: o.generation, To: peer, Reason: why})
	}
	c.s.engine.gate.leave(o.client)
	c.s.engine.ended(o)
}

// admit starts queued requests, in turn between their clients, as long as there are places and room in the KV cache.
func (c *clients) admit() {
	gate := &c.s.engine.gate
	for len(c.queue) > 0 {
		next, lone := gate.fairest(c.queue)
		o := c.queue[next]
		if !c.s.roomFor(len(o.prompt), lone) {
			break
		}
		if c.granted > 0 {
			c.granted--
			lone = gate.use(o.client)
		} else {
			var entered bool
			if entered, lone = gate.enter(c.s, o.client); !entered {
				return
			}
		}
		c.queue = slices.Delete(c.queue, next, next+1)
		o.admitted = true
		if lone {
			spec := *o.spec
			spec.Lone = true
			o.spec = &spec
		}
		c.s.engine.started()
		o.listeners = c.s.listeners(o)
		for i, peer := range o.spec.Models[1:] {
			m := Message{Kind: Admitted, Request: o.id, Generation: o.generation, To: peer}
			o.herald(&m, i+1)
			c.s.peers.send(m)
		}
		if f := c.s.engine.observer.Admit; f != nil {
			f(AdmitRecord{Request: o.id, Model: c.s.name, Prompt: len(o.prompt), Asked: o.asked, Time: c.s.engine.now()})
		}
		c.s.admit(o)
	}
	for ; c.granted > 0; c.granted-- { // places that are of no use here now
		gate.giveBack()
	}
}
