package simulate

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/sched/throughput"
)

// pageTokens is the size of the KV pages, of which there are always enough.
const pageTokens = 32

// options are those of the engine that is simulated.
func (m *simulation) options(latencies []throughput.Latency) sched.Options {
	length := m.Prompt + m.Tokens + 1
	o := sched.Options{
		Policy: m.Batching.Policy, Order: m.Batching.Order,
		MaxBatch: m.Requests, MaxLive: m.Requests, MaxQueue: m.Requests, PrefillChunk: 1 << 20, MaxBatchTokens: 1 << 30,
		Observer: sched.Observers(&sched.Observer{Batch: m.observe}, m.watcher),
	}
	route := sched.RouteOptions{Name: "route", Algorithm: m.matrix.name}
	for i, model := range m.Models {
		r := &runner{latency: latencies[i], jitter: m.Jitter, slower: 1, rng: rand.New(rand.NewPCG(m.Seed, uint64(i)))}
		m.runners = append(m.runners, r)
		threshold := sched.AutoThreshold
		if b, ok := m.Batching.Threshold[model.Name]; ok {
			threshold = b
		} else if i == 0 {
			threshold = 1 // the entry takes whoever comes
		}
		wait := time.Duration(m.Batching.MaxWait)
		if wait == 0 {
			wait = sched.AutoWait
		}
		o.Models = append(o.Models, sched.ModelOptions{
			Name: model.Name, Device: model.Device, Runner: r, Threshold: threshold, MaxWait: wait,
			Info: sched.Info{Vocab: 2, PageTokens: pageTokens, Pages: m.Requests * (length/pageTokens + 1), MaxContext: length + 1},
		})
		route.Models = append(route.Models, model.Name)
	}
	o.Routes = []sched.RouteOptions{route}
	if len(m.Models) == 1 {
		o.Routes = nil
	}
	return o
}

// observe counts a step.
func (m *simulation) observe(b sched.BatchRecord) {
	i := slices.IndexFunc(m.Models, func(model Model) bool { return model.Name == b.Model })
	c := &m.counts[i]
	c.steps++
	c.requests += b.Segments
	c.rows += b.Prefill + b.Decode + b.Resume + b.Rebuild
	c.busy += b.End.Sub(b.Start)
}

// run warms up, measures, and reports.
func (m *simulation) run() (*Report, error) {
	r := &Report{Policy: m.Batching.Policy}
	if r.Policy == sched.Eager {
		r.Order = cmp.Or(m.Batching.Order, sched.LargeFirst)
	}
	warm := time.Duration(m.Warmup)
	changes := m.Changes
	if err := m.until(warm, &changes, nil); err != nil {
		return nil, err
	}
	start := m.tokens()
	clear(m.counts)
	m.first, m.ended = nil, 0
	phase, since := start, m.engine.Now()
	mark := func() {
		if took := m.engine.Now() - since; took > 0 {
			r.Phases = append(r.Phases, float64(m.tokens()-phase)/took.Seconds())
		}
		phase, since = m.tokens(), m.engine.Now()
	}
	if err := m.until(warm+time.Duration(m.Duration), &changes, mark); err != nil {
		return nil, err
	}
	if len(m.Changes) > 0 {
		mark()
	}
	r.Elapsed = m.engine.Now() - warm
	r.Throughput = float64(m.tokens()-start) / r.Elapsed.Seconds()
	r.Answers = m.ended
	slices.Sort(m.first)
	if n := len(m.first); n > 0 {
		r.Median, r.Tail = m.first[n/2], m.first[n*95/100]
	}
	m.report(r)
	return r, nil
}

// report adds what the models did.
func (m *simulation) report(r *Report) {
	tokens := make([]float64, len(m.Models))
	all := 0.0
	for i := range m.Models { // by the routing as it is at the end
		for j := range m.Models {
			tokens[i] += float64(m.counts[i].requests) * m.matrix.moves[i][j] * m.matrix.commits[i][j]
		}
		all += tokens[i]
	}
	for i, model := range m.Models {
		c := &m.counts[i]
		x := ModelReport{Name: model.Name, Steps: c.steps, Busy: c.busy.Seconds() / r.Elapsed.Seconds(), Threshold: m.engine.Threshold(model.Name)}
		if all > 0 {
			x.Share = tokens[i] / all
		}
		if c.steps > 0 {
			x.Batch, x.Rows = float64(c.requests)/float64(c.steps), float64(c.rows)/float64(c.steps)
		}
		r.Models = append(r.Models, x)
	}
}

// until goes on to a moment, and makes the changes that are due before it. changed, if not nil, is called after each.
func (m *simulation) until(end time.Duration, changes *[]Change, changed func()) error {
	for m.engine.Now() < end {
		if err := m.refill(); err != nil {
			return err
		}
		m.engine.Settle()
		m.look()
		if m.engine.Unfinished() < m.Requests {
			continue // another comes at the same moment
		}
		stop := end
		if len(*changes) > 0 {
			stop = min(stop, time.Duration((*changes)[0].At))
		}
		m.engine.Advance(stop)
		for len(*changes) > 0 && m.engine.Now() >= time.Duration((*changes)[0].At) {
			if err := m.change(&(*changes)[0]); err != nil {
				return err
			}
			*changes = (*changes)[1:]
			if changed != nil {
				changed()
			}
		}
	}
	return nil
}

// change makes a change.
func (m *simulation) change(c *Change) error {
	for name, factor := range c.Slower {
		for i := range m.Models {
			if m.Models[i].Name == name {
				m.runners[i].slower = factor
			}
		}
	}
	if c.Routing == nil {
		return nil
	}
	moves, commits, err := c.Routing.matrices(len(m.Models))
	if err != nil {
		return err
	}
	for i := range moves {
		copy(m.matrix.moves[i], moves[i])
		copy(m.matrix.commits[i], commits[i])
	}
	return nil
}

// refill sends requests until there are as many as there should be.
func (m *simulation) refill() error {
	if m.engine.Unfinished() == m.Requests {
		return nil
	}
	m.live = slices.DeleteFunc(m.live, func(s *sched.Stream) bool {
		tokens, ended := s.Completion()
		if ended {
			m.done += tokens
			m.ended++
		}
		return ended
	})
	target := "route"
	if len(m.Models) == 1 {
		target = m.Models[0].Name
	}
	for len(m.live) < m.Requests {
		m.next++
		s, err := m.engine.Submit(sched.Request{Target: target, Prompt: make([]int32, m.Prompt), MaxTokens: m.Tokens,
			Sampling: sched.Sampling{Seed: m.Seed<<32 ^ m.next}})
		if err != nil {
			return err
		}
		m.live = append(m.live, s)
		m.asked[s] = m.engine.Now()
	}
	return nil
}

// look sees who has got a first token.
func (m *simulation) look() {
	for s, at := range m.asked {
		if tokens, ended := s.Completion(); tokens > 0 || ended {
			m.first = append(m.first, (m.engine.Now() - at).Seconds())
			delete(m.asked, s)
		}
	}
}

// tokens is how many have been written.
func (m *simulation) tokens() int {
	n := m.done
	for _, s := range m.live {
		tokens, _ := s.Completion()
		n += tokens
	}
	return n
}
