package sched

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tokenrouter/tokenrouter/router"
)

// handoff sends a running request to the model at index `to` of its route and makes it pending here. Serving state and
// KV stay as they are.
func (s *subserver) handoff(l *local, to int) {
	// A model that a request comes back to with nothing written since decides as before: the request would go round for
	// ever. Every model may pass on a position once.
	if l.handoffs+1 > len(l.spec.Models) {
		s.fail(l, fmt.Errorf("algorithm %q handed the request off %d times without writing a token",
			l.spec.Algorithm, l.handoffs+1))
		return
	}
	m, err := l.handoffMessage(to, l.known[to])
	if err != nil {
		s.fail(l, err)
		return
	}
	if !s.move(l, Pending) {
		return
	}
	l.away, l.firm = to, l.cache.Length()
	s.step.record.HandedOff++
	if s.engine.observer.Resume != nil {
		l.left = s.engine.now()
	}
	if f := s.engine.observer.Handoff; f != nil {
		f(HandoffRecord{Request: l.id, From: s.name, To: m.To, Tokens: len(m.Tokens), Draft: len(m.Draft), Length: len(l.tokens),
			Kept: l.role.Keep, Time: s.engine.now()})
	}
	s.peers.send(m)
}

// begins puts a request that has just been admitted where its algorithm wants it to begin: here, or at another model of its
// route, which then has it as if it had been handed off there, though nothing was handed off yet.
func (s *subserver) begins(l *local) {
	at, err := l.start()
	var m Message
	if err == nil && at != 0 {
		m, err = l.handoffMessage(at, 0)
		m.Handoffs = 0
	}
	switch {
	case err != nil:
		s.move(l, Waiting)
		s.fail(l, err)
	case at == 0:
		s.move(l, Waiting)
	case s.move(l, Pending):
		l.away = at
		l.unfit = l.role.AsAlone && !l.role.Draft // the answer is another model's, all of it
		if s.engine.observer.Resume != nil {
			l.left = s.engine.now()
		}
		if f := s.engine.observer.Handoff; f != nil {
			f(HandoffRecord{Request: l.id, From: s.name, To: m.To, Tokens: len(m.Tokens), Length: len(l.tokens), Start: true, Time: s.engine.now()})
		}
		s.peers.send(m)
	}
}

// start asks the algorithm where the answer begins.
func (l *local) start() (at int, err error) {
	if l.role.Start == nil {
		return 0, nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("start of algorithm %q panicked: %v", l.spec.Algorithm, p)
		}
	}()
	if at = l.role.Start(l.view()); at < 0 || at >= len(l.spec.Models) {
		return 0, fmt.Errorf("algorithm %q begins at model %d: the route has models 0 to %d", l.spec.Algorithm, at, len(l.spec.Models)-1)
	}
	return at, nil
}

// handoffMessage builds the peer request for a peer that is believed to know the first `known` tokens.
func (l *local) handoffMessage(to, known int) (m Message, err error) {
	tokens := l.tokens[known:len(l.tokens):len(l.tokens)] // grows only, so the receiver may read it at any time
	if l.role.Send != nil {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("send of algorithm %q panicked: %v", l.spec.Algorithm, p)
			}
		}()
		view := l.view()
		view.Keeping = l.role.Keep && l.state != Fresh
		tokens = l.role.Send(view, router.PeerOf(l.self, to), known)
	}
	m = Message{Kind: Handoff, Request: l.id, Generation: l.generation, To: l.spec.Models[to],
		Start: known, Tokens: tokens, Anchor: len(l.tokens),
		Handoffs: l.handoffs + 1, Discarded: slices.Clip(l.discarded), Round: l.round, Threshold: l.threshold} // the receiver appends to it
	if l.role.Draft {
		m.Draft = slices.Clone(l.draft)
	}
	if known == 0 {
		m.Spec = l.spec
	}
	l.known[to] = known + len(tokens)
	return m, nil
}

// receive takes a request that a peer has handed off. A request that is pending here resumes: what came is appended, and
// nothing is matched or allocated. One that is not known here is taken with its whole sequence.
func (s *subserver) receive(m *Message) {
	l := s.requests[m.Request]
	if l != nil && l.generation < m.Generation {
		l = nil // the ID is in use again
	}
	if l == nil {
		if m.Spec == nil || m.Start > 0 {
			s.resend(m, 0)
			return
		}
		var err error
		if l, err = s.newcomer(m); err != nil {
			s.refuse(m, m.Spec.Models[0], err)
			return
		}
	}
	from := slices.Index(l.spec.Models, m.From)
	switch {
	case l.generation > m.Generation:
		return
	case l.state != Pending && l.state != Fresh:
		s.fail(l, fmt.Errorf("handed off by %q while %v here", m.From, l.state))
		return
	case m.Start > len(l.tokens):
		s.resend(m, len(l.tokens))
		return
	}
	fresh, err := l.unseen(m, from)
	if err == nil {
		err = l.spec.checkDraft(m, len(l.tokens)+len(fresh))
	}
	if err != nil && l.state == Fresh {
		s.forget(l)
		s.refuse(m, l.spec.Models[0], err)
		return
	}
	if err != nil {
		s.fail(l, err)
		return
	}
	s.resume(l, m, from, fresh)
}

// newcomer takes a request that is not known here.
func (s *subserver) newcomer(m *Message) (*local, error) {
	self, from := slices.Index(m.Spec.Models, s.name), slices.Index(m.Spec.Models, m.From)
	if self < 0 || from < 0 || self == from {
		return nil, fmt.Errorf("handed off by %q in a route of %q", m.From, m.Spec.Models)
	}
	role, err := s.engine.role(m.Spec, self)
	if err != nil {
		return nil, err
	}
	return s.take(m.Request, m.Generation, m.Spec, self, role), nil
}

// resume appends what came to a request and puts it among those that wait.
func (s *subserver) resume(l *local, m *Message, from int, fresh []int32) {
	s.learn(l, fresh)
	l.known[from] = max(0, min(m.Anchor, len(l.tokens)))
	l.handoffs, l.discarded = m.Handoffs, m.Discarded
	l.adopt(m.Draft)
	l.threshold = m.Threshold
	l.own, l.urgent, l.round = false, false, m.Round
	s.keep(l, len(l.tokens)-1) // where nothing new came, the row of the last token is gone: its token is extended again
	known := l.state == Pending && !l.guest
	l.guest, l.unfit = false, false
	s.move(l, Waiting)
	if f := s.engine.observer.Resume; f != nil {
		r := ResumeRecord{Request: l.id, From: m.From, To: s.name, Tokens: len(fresh), Known: known, Time: s.engine.now()}
		if known {
			r.Away = r.Time.Sub(l.left)
		}
		f(r)
	}
}

// unseen returns the tokens of a handoff that are to be appended here.
func (l *local) unseen(m *Message, from int) (fresh []int32, err error) {
	if from < 0 {
		return nil, fmt.Errorf("handed off by %q in a route of %q", m.From, l.spec.Models)
	}
	for _, t := range m.Tokens {
		if t < 0 || int(t) >= l.spec.Vocab {
			return nil, fmt.Errorf("token %d from %q is outside the %d ids of the route", t, m.From, l.spec.Vocab)
		}
	}
	overlap := min(len(l.tokens)-m.Start, len(m.Tokens))
	if !slices.Equal(m.Tokens[:overlap], l.tokens[m.Start:m.Start+overlap]) {
		return nil, fmt.Errorf("%q and this model disagree about the tokens from position %d", m.From, m.Start)
	}
	fresh = m.Tokens[overlap:]
	if l.role.Receive != nil {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("receive of algorithm %q panicked: %v", l.spec.Algorithm, p)
			}
		}()
		fresh = l.role.Receive(l.view(), router.PeerOf(l.self, from), fresh)
	}
	if len(l.tokens)+len(fresh) == 0 {
		return nil, errors.New("a handoff left no token to go on from")
	}
	if n := len(l.tokens) + len(fresh); n >= l.spec.MaxLength {
		return nil, fmt.Errorf("a handoff from %q makes the sequence %d tokens long, its end is at %d", m.From, n, l.spec.MaxLength)
	}
	return fresh, nil
}

// resend asks the sender of a handoff for the tokens from `anchor` on.
func (s *subserver) resend(m *Message, anchor int) {
	s.peers.send(Message{Kind: Resend, Request: m.Request, Generation: m.Generation, To: m.From, Anchor: anchor})
}

// sendAgain answers a Resend, if the request still is where it was sent.
func (s *subserver) sendAgain(m *Message) {
	l := s.requests[m.Request]
	if l == nil || l.generation != m.Generation || l.state != Pending || l.spec.Models[l.away] != m.From {
		return
	}
	if m.Anchor < 0 || m.Anchor > len(l.tokens) {
		s.fail(l, fmt.Errorf("%q asks for tokens from position %d of %d", m.From, m.Anchor, len(l.tokens)))
		return
	}
	again, err := l.handoffMessage(l.away, m.Anchor)
	if err != nil {
		s.fail(l, err)
		return
	}
	s.peers.send(again)
}

// refuse tells the owner of a request that is not known here that it cannot be taken.
func (s *subserver) refuse(m *Message, entry string, err error) {
	s.peers.send(Message{Kind: Failed, Request: m.Request, Generation: m.Generation, To: entry, Reason: err.Error(), cause: err})
}

// forget drops a request that was never more than fresh.
func (s *subserver) forget(l *local) {
	s.counts[Fresh]--
	delete(s.requests, l.id)
	s.pool.Free(l.cache)
}
