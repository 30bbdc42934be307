package sched

import (
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tokenrouter/tokenrouter/sched/throughput"
)

// planner keeps the thresholds of a group of models at what the throughput model says, beside their loops: it looks at the
// estimates now and then, and plans anew when they have moved.
type planner struct {
	engine *Engine
	group  *group
	wake   signal
	ready  atomic.Bool // enough is known to plan

	used  *throughput.System // what the present thresholds were planned for; its Requests mean nothing
	since time.Time          // when that was
	rest  time.Time          // when it may plan again
}

// How often a planner looks, and how far an estimate must have moved for it to plan anew.
const (
	planEvery = 250 * time.Millisecond
	planMoved = 0.15
	planPause = time.Second
	planMost  = 128 // live requests: the time to plan grows faster than their square, to a minute for 512, and the engine's end waits for it
	planRest  = 20  // times as long as planning took: it is to cost no more than a twentieth of a core
)

// rule is the threshold of a model at some number of live requests, and how long a request waits for it at most.
type rule struct {
	threshold int
	wait      time.Duration
}

// loop works until the engine ends.
func (p *planner) loop() {
	defer p.engine.loops.Done()
	ticker := time.NewTicker(planEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-p.wake:
		case <-p.engine.quit:
			return
		}
		p.turn()
	}
}

// turn looks once.
func (p *planner) turn() {
	now := p.engine.now()
	if now.Before(p.rest) {
		return
	}
	s, live, ok := p.system()
	if !ok || live == 0 {
		return
	}
	defer func() {
		took := p.engine.now().Sub(now)
		p.rest = now.Add(took * (1 + planRest))
	}()
	if p.used == nil || p.moved(s) && now.Sub(p.since) >= planPause {
		p.used, p.since = s, now
		p.ready.Store(true)
		p.plan(live, true)
		return
	}
	p.plan(live, false)
}

// system puts the estimates together. False: too little is known.
func (p *planner) system() (s *throughput.System, live int, ok bool) {
	s = &throughput.System{Shared: true}
	for _, m := range p.group.members {
		s.Shared = s.Shared && m.domain == p.group.members[0].domain
	}
	for i, m := range p.group.members {
		m.mu.Lock()
		// There may be more than is planned for; what is best for the most of these holds then.
		live = max(live, min(m.visitors, len(m.rules)-1))
		latency, known := m.observed.latency()
		stretch := m.observed.stretch()
		enough := m.observed.enough() || i > 0
		moves := make([]float64, len(p.group.members))
		commits := make([]float64, len(p.group.members))
		all := 0.0
		for j, peer := range p.group.members {
			moves[j] = m.observed.moves[peer.index]
			if moves[j] > 0 {
				commits[j] = m.observed.commits[peer.index] / moves[j]
			}
			all += moves[j]
		}
		m.mu.Unlock()
		if !known || !enough {
			return nil, live, false
		}
		if all == 0 { // nobody has come here
			moves[0], all = 1, 1
		}
		for j := range moves {
			moves[j] /= all
		}
		s.Latencies = append(s.Latencies, latency)
		s.Stretch = append(s.Stretch, max(1, stretch))
		s.P, s.C = append(s.P, moves), append(s.C, commits)
	}
	return s, live, true
}

// moved reports whether an estimate has moved away from what was planned with.
func (p *planner) moved(s *throughput.System) bool {
	far := func(a, b float64) bool { return math.Abs(a-b) > planMoved*max(math.Abs(b), 1e-9) }
	for i := range s.P {
		away, was := 1-s.P[i][i], 1-p.used.P[i][i]
		if far(away, was) && math.Abs(away-was) > 0.005 {
			return true
		}
		if far(s.Stretch[i], p.used.Stretch[i]) {
			return true
		}
		const n, rows = 8, 16
		if far(s.Latencies[i].Step(n, rows), p.used.Latencies[i].Step(n, rows)) || far(s.Latencies[i].Step(1, 1), p.used.Latencies[i].Step(1, 1)) {
			return true
		}
	}
	return false
}

// plan makes the rules for this many live requests, unless they are there. With anew, those for other numbers are dropped.
func (p *planner) plan(live int, anew bool) {
	members := p.group.members
	if !anew {
		missing := false
		for _, m := range members {
			m.mu.Lock()
			missing = missing || m.rules[live] == rule{}
			m.mu.Unlock()
		}
		if !missing {
			return
		}
	}
	s := *p.used
	s.Requests = live
	best, rate := p.choose(&s, live)
	rows := p.used.Waits(best, rate)
	for i, m := range members {
		m.mu.Lock()
		if anew {
			clear(m.rules)
		}
		m.rules[live] = rule{best[i], time.Duration(rows[i] * float64(time.Second))}
		m.publish()
		m.mu.Unlock()
	}
	p.engine.nudge()
}

// choose returns thresholds for a system and its predicted throughput. Those of models with a fixed threshold are as they are.
// Others change only if that gains something.
func (p *planner) choose(s *throughput.System, live int) ([]int, float64) {
	now := make([]int, len(p.group.members))
	fixed := true
	for i, m := range p.group.members {
		m.mu.Lock()
		now[i] = max(1, min(live, m.ruled(live)))
		m.mu.Unlock()
		fixed = fixed && m.threshold != AutoThreshold
	}
	current, err := s.Throughput(now)
	if fixed || err != nil {
		return now, current
	}
	o, err := s.Optimum()
	if err != nil {
		return slices.Repeat([]int{1}, len(now)), current
	}
	best := slices.Clone(o.Best.Thresholds)
	for i, m := range p.group.members {
		if m.threshold != AutoThreshold {
			best[i] = now[i]
		}
	}
	if o.Best.Throughput < current*(1+throughput.Adopt) {
		return now, current
	}
	return best, o.Best.Throughput
}
