package sched

import "slices"

// listeners are the models of a route that extend ahead of need, as places in it. An algorithm that decides by itself what it
// sends or takes in is not second-guessed: only a handoff tells what its models get.
func (s *subserver) listeners(o *owner) (list []int) {
	if o.role.Send != nil {
		return nil
	}
	for i, name := range o.spec.Models[1:] {
		if peer := s.engine.byName[name]; peer == nil || !peer.ahead {
			continue
		}
		if role, err := s.engine.role(o.spec, i+1); err == nil && role.Receive == nil {
			list = append(list, i+1)
		}
	}
	return list
}

// herald lets a message that announces a request bring its prompt, if the peer may extend it ahead of need. Where the
// algorithm chooses the first model, the prompt goes to that one.
func (o *owner) herald(m *Message, to int) {
	if o.role.Start != nil || !slices.Contains(o.listeners, to) {
		return
	}
	m.Spec, m.Tokens, m.Anchor = o.spec, o.prompt, len(o.prompt)
}

// heralded notes at the entry what the messages that announced the request have brought.
func (l *local) heralded(o *owner) {
	if o.role.Start == nil {
		for _, i := range o.listeners {
			l.known[i] = len(o.prompt)
		}
	}
	if !o.role.AsAlone { // otherwise one model writes all that follows
		l.listeners = o.listeners
	}
}

// tell tells peers about tokens that were committed here, when enough have come together.
func (s *subserver) tell(l *local) {
	for _, to := range l.listeners {
		known := l.known[to]
		if len(l.tokens)-known < aheadLeast {
			continue
		}
		m := Message{Kind: Ahead, Request: l.id, Generation: l.generation, To: l.spec.Models[to],
			Start: known, Tokens: l.tokens[known:len(l.tokens):len(l.tokens)], Anchor: len(l.tokens)}
		if known == 0 {
			m.Spec = l.spec
		}
		l.known[to] = len(l.tokens)
		s.peers.send(m)
	}
}

// foresee takes in tokens of a request that has not been handed off to this model, or has left it. If they are of no use it
// does nothing: a handoff brings what is lacking, or asks for it.
func (s *subserver) foresee(m *Message) {
	l := s.requests[m.Request]
	if l != nil && l.generation < m.Generation {
		l = nil // the ID is in use again
	}
	if l == nil {
		if !s.ahead || m.Spec == nil || m.Start > 0 {
			return
		}
		var err error
		if l, err = s.newcomer(m); err != nil {
			return
		}
		l.away, l.guest = slices.Index(l.spec.Models, m.From), true
		s.move(l, Pending)
	}
	if l.generation != m.Generation || l.state != Pending || m.Start > len(l.tokens) || l.role.Receive != nil {
		return
	}
	from := slices.Index(l.spec.Models, m.From)
	fresh, err := l.unseen(m, from)
	if err != nil {
		return
	}
	s.learn(l, fresh)
	l.known[from] = max(l.known[from], min(m.Anchor, len(l.tokens)))
	if l.lag() > 0 {
		s.wake.raise()
	}
}
