package sched

// SetTransport puts f between the inter-model loops: it is given each message and what delivers it. To be called before
// the first request: the loops read it without a lock, so it panics where one has been taken.
func (e *Engine) SetTransport(f func(m Message, deliver func(Message))) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.generation > 0 {
		panic("the transport is set after the first request")
	}
	deliver := e.deliver
	e.deliver = func(m Message) { f(m, deliver) }
}

// Forget makes a subserver lose a request that is away, as a peer that was restarted would have.
func (e *Engine) Forget(model, id string) bool {
	s := e.byName[model]
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.requests[id]
	if l == nil || l.state != Pending || l.device {
		return false
	}
	s.counts[Pending]--
	delete(s.requests, id)
	s.pool.Free(l.cache)
	return true
}

// Uncount undoes, in the group of a model, the activity of a message that a transport drops, or adds that of one that it makes.
func (e *Engine) Uncount(model string, n int) { e.byName[model].group.done(n) }
