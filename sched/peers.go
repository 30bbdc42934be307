package sched

import (
	"errors"
	"fmt"
	"sync"
)

// peers is the inter-model loop of a subserver: it delivers the messages that the other loops have left, in order, and
// turns those that arrive into local form.
type peers struct {
	s    *subserver
	wake signal

	mu  sync.Mutex
	out []Message
	in  []Message

	outSpare, inSpare []Message         // of the loop
	sent              map[string]uint64 // of the loop: sequence numbers by receiver
	heard             map[string]uint64 // of the loop: sequence numbers by sender
}

func newPeers(s *subserver) *peers {
	return &peers{s: s, wake: newSignal(), sent: make(map[string]uint64), heard: make(map[string]uint64)}
}

// send leaves a message for delivery. It never waits. Messages to one receiver arrive in the order in which they are left.
func (p *peers) send(m Message) {
	p.s.group.add(1) // until the receiver has handled it
	p.s.engine.transit.Add(1)
	m.From = p.s.name
	p.mu.Lock()
	p.out = append(p.out, m)
	p.mu.Unlock()
	p.wake.raise()
}

// accept takes a message that has arrived. It never waits.
func (p *peers) accept(m Message) {
	p.s.engine.transit.Add(1)
	p.mu.Lock()
	p.in = append(p.in, m)
	p.mu.Unlock()
	p.wake.raise()
}

// loop works until the engine ends.
func (p *peers) loop() {
	defer p.s.engine.loops.Done()
	for {
		if p.turn() {
			continue
		}
		select {
		case <-p.wake:
		case <-p.s.engine.quit:
			return
		}
	}
}

// turn delivers and handles what messages there are and reports whether there were any.
func (p *peers) turn() bool {
	p.mu.Lock()
	out, in := p.out, p.in
	p.out, p.in = p.outSpare[:0], p.inSpare[:0]
	p.mu.Unlock()
	defer p.s.observeTurn("peers", len(out)+len(in))()
	for i := range out {
		p.sent[out[i].To]++
		out[i].Sequence = p.sent[out[i].To]
		p.s.engine.deliver(out[i])
	}
	for i := range in {
		p.handle(&in[i])
	}
	n := len(in)
	done := n + len(out)
	clear(out)
	clear(in)
	p.outSpare, p.inSpare = out, in
	if done > 0 {
		p.s.engine.arrived(done)
	}
	if n > 0 {
		p.s.group.done(n)
	}
	return done > 0
}

// handle acts on one message.
func (p *peers) handle(m *Message) {
	s := p.s
	switch expected := p.heard[m.From] + 1; {
	case m.Sequence < expected:
		return // heard already
	case m.Sequence > expected:
		s.engine.fault(s.name, fmt.Errorf("messages %d to %d from %q were lost", expected, m.Sequence-1, m.From))
	}
	p.heard[m.From] = m.Sequence
	if err := m.check(); err != nil {
		s.engine.fault(s.name, fmt.Errorf("message from %q: %w", m.From, err))
		return
	}

	switch m.Kind {
	case Committed:
		s.clients.push(task{kind: taskCommit, id: m.Request, generation: m.Generation,
			commit: commit{start: m.Start, tokens: m.Tokens, infos: m.Infos, cached: m.Cached}})
		return
	case Failed:
		cause := m.cause
		if cause == nil {
			cause = errors.New(m.Reason)
		}
		s.clients.push(task{kind: taskFail, id: m.Request, generation: m.Generation,
			err: &ModelError{Model: m.From, Err: cause}})
		return
	case Done:
		s.release(m.Request, m.Generation)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// What Admitted announces may have been queued for long, so it is not late for being old.
	live := m.Kind == Admitted || s.live[m.Request].generation == m.Generation
	if s.over.covers(m.Request, m.Generation, live) {
		return
	}
	defer s.publish()
	switch m.Kind {
	case Admitted:
		s.expect(m.Request, m.Generation, true)
		if m.Spec != nil {
			s.foresee(m)
		}
	case Ahead:
		s.foresee(m)
	case Handoff:
		s.receive(m)
	case Resend:
		s.sendAgain(m)
	}
}
