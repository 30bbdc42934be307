package sched

// spare is the number of free pages that no request is about to need: those that wait here, or are away and have been here,
// may take in what they are known to have, and a page more each.
func (s *subserver) spare() int {
	pages := s.pool.FreePages()
	for _, l := range s.requests {
		if !l.guest {
			pages -= 1 + s.pool.Lacking(l.cache, len(l.sequence())+1)
		}
	}
	return pages
}

// giveUp takes back pages that were filled ahead of need, those of the youngest requests first, until `pages` are free or
// nothing is left that could be given up.
func (s *subserver) giveUp(pages int) {
	for s.pool.FreePages() < pages {
		var victim *local
		for _, v := range s.requests {
			if v.state == Pending && len(v.cache.Pages()) > s.pool.PagesFor(v.firm) && (victim == nil || v.generation > victim.generation) {
				victim = v
			}
		}
		if victim == nil {
			return
		}
		s.giveBack(victim)
	}
}

// giveBack undoes what was extended of a request ahead of need.
func (s *subserver) giveBack(v *local) {
	v.early = 0
	if v.firm == 0 {
		s.pool.Clear(v.cache)
		return
	}
	left, err := s.pool.Truncate(v.cache, min(v.firm, v.cache.Length()))
	if err != nil {
		s.engine.fault(s.name, err)
	}
	v.firm = left
}
