package sched

// makeRoom reserves the pages that l needs for the step being planned, and reports whether it could. When too few are
// free, those that were filled ahead of need are given up first. Then it takes them from requests that come after it, the last
// first: from those that wait or are away, never from those already in the batch. Older requests come first, but before all of
// them those that hurry, which is over with their first token. Nobody can take pages from the first request, so it always gets on,
// whatever the others do; when it ends another is the first. That is why nothing deadlocks on memory.
//
// An empty request, one that had nothing in the cache, is given pages for all its tokens at once: were it given those of one
// chunk, two that do not fit together would rebuild bit by bit what the other one then takes away.
func (s *subserver) makeRoom(l *local, empty bool) bool {
	reach := l.cache.Length() + l.take
	if empty {
		reach = len(l.sequence())
	}
	lacking := s.pool.Lacking(l.cache, reach)
	if lacking == 0 {
		return true
	}
	s.giveUp(lacking)
	if lacking > s.pool.FreePages() && lacking > s.pool.FreePages()+s.evictable(l) {
		s.letGo(l, empty)
		return false // taking what there is would help nobody
	}
	for lacking > s.pool.FreePages() {
		v := s.last(l)
		if v == nil { // what they had is shared with those in the batch
			s.letGo(l, empty)
			return false
		}
		s.evict(v)
	}
	if err := s.pool.Reserve(l.cache, reach); err != nil {
		s.engine.fault(s.name, err)
		return false
	}
	return true
}

// recall gives an empty request the pages of its beginning that are in the cache. The last token is left to be extended, for
// its row.
func (s *subserver) recall(l *local) {
	if !s.engine.options.NoPrefixCache {
		l.recalled = s.pool.Match(l.cache, l.tokens[:len(l.tokens)-1])
		if !l.read {
			l.found = l.recalled
		}
	}
}

// letGo undoes a recall: a request that cannot go on holds no pages that others may want.
func (s *subserver) letGo(l *local, empty bool) {
	if empty {
		s.pool.Clear(l.cache)
	}
}

// prey reports whether l may take the pages of v.
func prey(l, v *local) bool {
	return l.before(v) && v.state != Running && len(v.cache.Pages()) > 0
}

// before reports whether a request comes before another one where both cannot be had.
func (l *local) before(v *local) bool {
	if l.hurries() != v.hurries() {
		return l.hurries()
	}
	return l.generation < v.generation
}

// hurries reports whether a request goes before those of clients who have others, since its own client has seen nothing yet.
func (l *local) hurries() bool { return l.spec.Lone && len(l.tokens) == l.spec.Prompt }

// evictable is the number of pages that l may take from others.
func (s *subserver) evictable(l *local) int {
	pages := 0
	for _, v := range s.requests {
		if prey(l, v) {
			pages += len(v.cache.Pages())
		}
	}
	return pages
}

// last is the request from which l takes pages first; nil: there is none.
func (s *subserver) last(l *local) *local {
	var victim *local
	for _, v := range s.requests {
		if prey(l, v) && (victim == nil || victim.before(v)) {
			victim = v
		}
	}
	return victim
}

// evict takes all pages of a request. Its tokens stay: it will extend them again by itself.
func (s *subserver) evict(v *local) {
	v.rebuild = max(v.rebuild, v.cache.Length())
	v.firm, v.early = 0, 0
	s.pool.Clear(v.cache)
	s.step.record.Evicted++
}
