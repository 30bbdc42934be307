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
	_, err = models.CheckRoute(p.files[0], p.files[1])
	return err
}

func (p *pair) close() error {
	var errs []error
	for _, m := range p.models {
		errs = append(errs, m.Close())
	}
	if p.device != nil {
		errs = append(errs, p.device.Close())
	}
	return errors.Join(errs...)
}

// engine starts the scheduler on empty KV caches that hold `live` requests of `length` tokens. The runners are returned, too, in the order of the models.
func (p *pair) engine(by policy, share float64, live, length int) (*sched.Engine, []*timed, error) {
	o := sched.Options{
		Policy: by.policy, Order: by.order, MaxLive: live, MaxBatch: max(live, 2), NoPrefixCache: true, Devices: []sched.DeviceOptions{p.shared},
		Routes: []sched.RouteOptions{{Name: routeName, Algorithm: router.RandomName, Models: []string{smallName, largeName},
			Params: router.Params{Threshold: &share}}},
	}
	pages := live * (length/sched.NativePageTokens + 1)
	var runners []*timed
	for i, m := range p.models {
		runner, err := m.NewRunner(sched.NativeLimits{Pages: pages, MaxRows: o.MaxBatch})
		if err != nil {
			return nil, nil, errors.Join(err, closeRunners(o.Models))
		}
		runners = append(runners, &timed{Runner: runner})
		info := runner.Info()
		info.Vocab = min(info.Vocab, p.files[i].Tokenizer().VocabSize())
		model := sched.ModelOptions{Name: []string{smallName, largeName}[i], Runner: runners[i], Info: info, Device: p.shared.Name, Threshold: 1, MaxWait: sched.AutoWait}
		if i > 0 {
			model.Threshold = by.threshold
		}
		o.Models = append(o.Models, model)
	}
	e, err := sched.NewEngine(o)
	if err != nil {
		return nil, nil, errors.Join(err, closeRunners(o.Models))
	}
	return e, runners, nil
}

func closeRunners(list []sched.ModelOptions) error {
	var errs []error
	for _, m := range list {
		errs = append(errs, m.Runner.Close())
	}
	return errors.Join(errs...)
}
