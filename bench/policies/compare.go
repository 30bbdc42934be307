package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tokenrouter/tokenrouter/bench/report"
	"github.com/tokenrouter/tokenrouter/sched"
)

// compare measures everything, beside the cases measured before. save is called after each case, and note with a line for each run.
func compare(ctx context.Context, o Options, before []*Case, save func(*Result) error, note func(string)) (err error) {
	p, err := open(&o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	r := &Result{Setting: report.Setting(p.device.Library()), Options: o, Cases: before}
	alone := map[int]*Figure{} // by live requests
	for _, c := range before {
		r.Options.Requests, r.Options.Shares = union(r.Options.Requests, c.Requests), union(r.Options.Shares, c.Share)
		if f := c.Policies[largeAloneName]; f != nil {
			alone[c.Requests] = f
		}
	}
	for _, share := range o.Shares {
		for _, n := range o.Requests {
			c := r.find(n, share)
			if err := p.measure(ctx, &o, c, alone[n] == nil || alone[n] == c.Policies[largeAloneName], note); err != nil {
				return fmt.Errorf("%d requests, share %g: %w", n, share, err)
			}
			if f := c.Policies[largeAloneName]; f != nil {
				alone[n] = f
			}
			large := alone[n]
			if at := c.Prediction; large != nil && at != nil { // perhaps of another share, whose steps took longer or shorter
				copied := *large
				copied.equalize(&at.Small, &at.Large, n*o.Each*o.Tokens)
				large = &copied
			}
			c.conclude(large)
			r.Complete = share == o.Shares[len(o.Shares)-1] && n == o.Requests[len(o.Requests)-1]
			slices.SortFunc(r.Cases, func(a, b *Case) int {
				return cmp.Or(cmp.Compare(a.Share, b.Share), cmp.Compare(a.Requests, b.Requests))
			})
			if err := save(r); err != nil {
				return fmt.Errorf("write the result: %w", err)
			}
		}
	}
	return nil
}

// find is the case of the result, a new one if there is none.
func (r *Result) find(requests int, share float64) *Case {
	for _, c := range r.Cases {
		if c.Requests == requests && c.Share == share {
			return c
		}
	}
	c := &Case{Requests: requests, Share: share, Policies: make(map[string]*Figure)}
	r.Cases = append(r.Cases, c)
	return c
}

// union is a sorted list with one more value, if it is not there.
func union[T cmp.Ordered](list []T, value T) []T {
	if slices.Contains(list, value) {
		return list
	}
	list = append(slices.Clone(list), value)
	slices.Sort(list)
	return list
}

// measure runs one case; `alone`: with the large model alone.
func (p *pair) measure(ctx context.Context, o *Options, c *Case, alone bool, note func(string)) error {
	order := slices.DeleteFunc(slices.Clone(o.Policies), func(by policy) bool { return by.alone && !alone })
	before := 0
	for _, f := range c.Policies {
		before = max(before, len(f.Runs))
	}
	for round := before; round < before+o.Rounds; round++ {
		if round == before && round%2 == 1 {
			slices.Reverse(order)
		}
		for _, by := range order {
			run, err := p.run(ctx, o, by, c)
			if err != nil {
				return fmt.Errorf("%s: %w", by.name, err)
			}
			f := c.Policies[by.name]
			if f == nil {
				f = &Figure{}
				c.Policies[by.name] = f
			}
			f.add(*run)
			note(fmt.Sprintf("N=%d share %g round %d %-18s %7.2f tokens/s, steady %7.2f (%.0f%% of them), first %4.0f ms, B=%d, steps %.1f%% of the time, %s, small %d of %.1f (%.1f rows) %.1f s, large %d of %.1f (%.1f rows) %.1f s",
				c.Requests, c.Share, round+1, by.name, run.All, run.Steady, 100*run.SteadyPart, median(run.First), run.Threshold, 100*run.Busy, run.Gaps, run.SmallSteps.Count, run.SmallSteps.Requests, run.SmallSteps.Rows, run.SmallSteps.Seconds,
				run.LargeSteps.Count, run.LargeSteps.Requests, run.LargeSteps.Rows, run.LargeSteps.Seconds))
		}
		slices.Reverse(order)
	}
	c.SameTokens = same(c)
	small, large := latencies(c)
	if small == nil {
		return nil
	}
	for _, f := range c.Policies {
		f.equalize(small, large, c.Requests*o.Each*o.Tokens)
	}
	prompts, err := p.prompts(o.Prompts, c.Requests*o.Each)
	if err != nil {
		return err
	}
	c.Prediction, err = predict(c.Requests, c.drawn(), float64(len(slices.Concat(prompts...)))/float64(len(prompts)*o.Tokens), *small, *large, o.Policies)
	return err
}

// same reports whether all runs over the route gave the same tokens.
func same(c *Case) bool {
	want := ""
	for name, f := range c.Policies {
		for i := range f.Runs {
			switch d := f.Runs[i].Digest; {
			case name == largeAloneName:
			case want == "":
				want = d
			case d != want:
				return false
			}
		}
	}
	return true
}

// latencies are the medians of what lazy runs estimated, since they have a profile; nil without one.
func latencies(c *Case) (small, large *Latency) {
	f := c.Policies[lazyName]
	if f == nil {
		return nil, nil
	}
	of := func(get func(*Run) *Latency) *Latency {
		var base, request, row []float64
		for i := range f.Runs {
			if l := get(&f.Runs[i]); l != nil {
				base, request, row = append(base, l.Base), append(request, l.PerRequest), append(row, l.PerRow)
			}
		}
		if base == nil {
			return nil
		}
		return &Latency{Base: median(base), PerRequest: median(request), PerRow: median(row)}
	}
	return of(func(r *Run) *Latency { return r.Small }), of(func(r *Run) *Latency { return r.Large })
}

// decisions is how many tokens the requests before those that are measured write together, where something is to be learnt.
const decisions = 400

// least is how many tokens of each request there are beforehand at least.
const least = 8

// beforehand is how many tokens each of n requests writes before those that are measured.
func beforehand(by policy, n int) int {
	if by.learns() && n > 1 {
		return max(least, decisions/n)
	}
	return least
}

// run measures one policy once, on an engine of its own.
func (p *pair) run(ctx context.Context, o *Options, by policy, c *Case) (_ *Run, err error) {
	// The same requests for all policies; those before have prompts and seeds of their own.
	n := c.Requests
	prompts, err := p.prompts(o.Prompts, n*(o.Each+1))
	if err != nil {
		return nil, err
	}
	before := beforehand(by, n)
	e, err := p.engine(by, c.Share, n, longest(prompts)+max(o.Tokens, before))
	if err != nil {
		return nil, err
	}
	defer func() {
		cancelled, cancel := context.WithCancel(ctx)
		if err != nil {
			cancel()
		}
		defer cancel()
		err = errors.Join(err, e.Close(cancelled))
	}()
	l := load{target: routeName, clients: n, tokens: before, seed: 1_000_000, prompts: prompts[n*o.Each:]}
	if by.alone {
		l.target = largeName
	}
	if _, err := l.run(ctx, e); err != nil {
		return nil, err
	}
	l.tokens, l.seed, l.prompts = o.Tokens, 1, prompts[:n*o.Each]
	var moment sched.Snapshot // when it is at its best: at the end nobody is left to wait for
	l.half = func() { moment = e.Snapshot() }
	small, large := p.runners[0], p.runners[1]
	small.begin()
	large.begin()
	start := time.Now()
	smallBefore, _ := small.total()
	largeBefore, _ := large.total()
	answers, err := l.run(ctx, e)
	if err != nil {
		return nil, err
	}
	r := l.account(answers, moment, by)
	smallAfter, smallCalls := small.total()
	largeAfter, largeCalls := large.total()
	r.SmallSteps, r.LargeSteps, r.Gaps = smallAfter.since(smallBefore), largeAfter.since(largeBefore), gapsOf(slices.Concat(smallCalls, largeCalls))
	r.Busy = (r.SmallSteps.Seconds + r.LargeSteps.Seconds) / time.Since(start).Seconds()
	return r, nil
}

// account makes figures of the answers.
func (l *load) account(answers []answer, snap sched.Snapshot, by policy) *Run {
	r := &Run{First: firsts(answers), Digest: digest(answers), Threshold: 1}
	r.All, r.Steady, r.SteadyPart = l.rates(answers)
	tokens, large := 0, 0
	for i := range answers {
		s := &answers[i].summary
		r.handoffs += s.Handoffs
		tokens, large = tokens+s.Completion, large+s.Tokens[largeName]
	}
	r.share = float64(large) / float64(tokens)
	if by.policy != sched.Lazy {
		return r
	}
	m := snap.Models[1]
	r.Threshold, r.MaxWait = m.Planned, m.MaxWait.Seconds()*1000
	if snap.Models[0].Latency.Known && m.Latency.Known {
		r.Small, r.Large = latencyOf(snap.Models[0].Latency), latencyOf(m.Latency)
	}
	return r
}

func latencyOf(l sched.LatencySnapshot) *Latency {
	return &Latency{Base: 1000 * l.Base, PerRequest: 1000 * l.PerRequest, PerRow: 1000 * l.PerRow}
}
