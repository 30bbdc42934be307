package sched

import "slices"

// rank says how far down a route each model comes.
func (e *Engine) rank() {
	for _, r := range e.options.Routes {
		for i, name := range r.Models {
			s := e.byName[name]
			s.rank = max(s.rank, i)
		}
	}
}

// divide puts the models into domains, which step one at a time, and groups, which requests stay within.
func (e *Engine) divide() {
	ranked := slices.Clone(e.subservers)
	slices.SortStableFunc(ranked, func(a, b *subserver) int { return a.rank - b.rank })
	together := e.options.Policy == StepSync || e.options.Policy == ModelSync
	domains := make(map[*device]*domain) // nil: all devices
	for _, s := range ranked {
		device := s.device
		if together {
			device = nil
		}
		d := domains[device]
		if d == nil || device != nil && device.concurrent {
			d = &domain{engine: e, round: 1}
			e.domains = append(e.domains, d)
			domains[device] = d
		}
		d.members = append(d.members, s)
		s.domain = d
	}
	for _, s := range ranked {
		if s.group == nil {
			g := &group{}
			e.groups = append(e.groups, g)
			e.join(g, s)
		}
	}
	for _, g := range e.groups {
		g.members = slices.DeleteFunc(slices.Clone(ranked), func(s *subserver) bool { return s.group != g })
		g.zero = func() {
			g.rouse()
			e.drained.raise()
		}
		if e.options.Policy == Lazy && len(g.members) > 1 {
			g.planner = &planner{engine: e, group: g, wake: newSignal()}
		}
	}
}

// join puts a model, and all that requests can reach from it, into a group.
func (e *Engine) join(g *group, s *subserver) {
	s.group = g
	for _, r := range e.options.Routes {
		if !slices.Contains(r.Models, s.name) {
			continue
		}
		for _, name := range r.Models {
			if peer := e.byName[name]; peer.group == nil {
				e.join(g, peer)
			}
		}
	}
}
