package main

import (
	"errors"
	"fmt"

	"github.com/tokenrouter/tokenrouter/models"
	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
)

// Names of the models and of the route between them.
const (
	smallName = "small-model"
	largeName = "large-model"
	routeName = "route"
)

// pair is the two models with their weights in memory.
type pair struct {
	device *sched.NativeDevice
	models []*sched.NativeModel // small, large
	files  []*models.Model
	shared sched.DeviceOptions // how they share the device

	// As in a server, a model's KV cache is made once, and what the device learns of the shapes of steps stays.
	runners []*timed
}

func open(o *Options) (*pair, error) {
	p := &pair{}
	if err := p.open(o); err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

func (p *pair) open(o *Options) (err error) {
	if p.device, err = sched.OpenNativeDevice(sched.NativeOptions{Kind: o.Device, Threads: o.Threads}); err != nil {
		return err
	}
	p.shared = sched.DeviceOptions{Name: o.Device, Concurrent: o.Sharing == "concurrent"}
	for _, path := range []string{o.Small, o.Large} {
		file, err := models.Open(path)
		if err != nil {
			return err
		}
		model, err := p.device.LoadModel(path, nil)
		if err != nil {
			return fmt.Errorf("load %s: %w", path, err)
		}
		p.files, p.models = append(p.files, file), append(p.models, model)
	}
	if _, err = models.CheckRoute(p.files[0], p.files[1]); err != nil {
		return err
	}
	limits, err := p.limits(o)
	if err != nil {
		return err
	}
	for _, m := range p.models {
		runner, err := m.NewRunner(limits)
		if err != nil {
			return err
		}
		p.runners = append(p.runners, &timed{native: runner})
	}
	return nil
}

// limits are room for the largest of the cases.
func (p *pair) limits(o *Options) (l sched.NativeLimits, err error) {
	for _, n := range o.Requests {
		prompts, err := p.prompts(o.Prompts, n*(o.Each+1))
		if err != nil {
			return l, err
		}
		for _, by := range o.Policies {
			l.Pages = max(l.Pages, pages(n, longest(prompts)+max(o.Tokens, beforehand(by, n))))
		}
		l.MaxRows = max(l.MaxRows, batch(n))
	}
	return l, nil
}

// pages hold n requests of so many tokens each.
func pages(n, length int) int { return n * (length/sched.NativePageTokens + 1) }

// batch is the most requests of a step, where n are live.
func batch(n int) int { return max(n, 2) }

func longest(prompts [][]int32) (n int) {
	for _, p := range prompts {
		n = max(n, len(p))
	}
	return n
}

func (p *pair) close() error {
	var errs []error
	for _, r := range p.runners {
		errs = append(errs, r.native.Close())
	}
	for _, m := range p.models {
		errs = append(errs, m.Close())
	}
	if p.device != nil {
		errs = append(errs, p.device.Close())
	}
	return errors.Join(errs...)
}

// engine starts the scheduler, with room for `live` requests of `length` tokens.
func (p *pair) engine(by policy, share float64, live, length int) (*sched.Engine, error) {
	o := sched.Options{
		Policy: by.policy, Order: by.order, MaxLive: live, MaxBatch: batch(live), NoPrefixCache: true, Devices: []sched.DeviceOptions{p.shared},
		Routes: []sched.RouteOptions{{Name: routeName, Algorithm: router.RandomName, Models: []string{smallName, largeName},
			Params: router.Params{Threshold: &share}}},
	}
	for i, r := range p.runners {
		info := r.native.Info()
		info.Vocab = min(info.Vocab, p.files[i].Tokenizer().VocabSize())
		info.Pages = pages(live, length)
		model := sched.ModelOptions{Name: []string{smallName, largeName}[i], Runner: r, Info: info, Device: p.shared.Name, Threshold: 1, MaxWait: sched.AutoWait}
		if i > 0 {
			model.Threshold = by.threshold
		}
		o.Models = append(o.Models, model)
	}
	return sched.NewEngine(o)
}
