package sched

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// device is what models share: its name, how they share it, and whether it is still there.
type device struct {
	name       string
	concurrent bool // steps of several models may overlap
	members    []*subserver

	mu      sync.Mutex
	lost    error // of the step that lost it; nil: it is there
	running int   // steps
	since   time.Time
	shared  time.Duration // in which steps of several models ran, until since
}

// begun counts a step in and returns how long steps have overlapped so far.
func (d *device) begun(now time.Time) time.Duration { return d.change(now, 1) }

// ended counts it out and returns the same.
func (d *device) ended(now time.Time) time.Duration { return d.change(now, -1) }

func (d *device) change(now time.Time, steps int) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.running > 1 {
		d.shared += now.Sub(d.since)
	}
	d.running, d.since = d.running+steps, now
	return d.shared
}

// gone is why steps on the device fail; nil while they do not.
func (d *device) gone() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.lost
}

// lose notes that the device is gone, and reports whether that is news.
func (d *device) lose(err error) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lost != nil {
		return false
	}
	d.lost = err
	return true
}

// makeDevices makes the devices and says which model is on which.
func (e *Engine) makeDevices() error {
	byName := make(map[string]*device)
	for _, o := range e.options.Devices {
		if byName[o.Name] != nil {
			return fmt.Errorf("device %q is named twice", o.Name)
		}
		byName[o.Name] = &device{name: o.Name, concurrent: o.Concurrent}
	}
	for i, s := range e.subservers {
		name := e.options.Models[i].Device
		d := byName[name]
		if d == nil {
			d = &device{name: name}
			byName[name] = d
		}
		if len(d.members) == 0 {
			e.devices = append(e.devices, d)
		}
		d.members = append(d.members, s)
		s.device = d
	}
	return nil
}

// runStep runs the planned step, unless the device is gone: a driver that has lost its GPU fails every call, if it does not hang.
func (s *subserver) runStep() error {
	if err := s.device.gone(); err != nil {
		return err
	}
	err := s.runner.Step(&s.step.batch)
	s.countGraphs()
	if errors.Is(err, ErrLost) && s.device.lose(err) {
		if f := s.engine.observer.Lost; f != nil {
			f(s.device.name, err)
		}
		s.engine.abandon(s.device)
	}
	return err
}

// abandon lets nobody wait for a threshold on a device that is gone: whoever is there, or comes, fails at once.
func (e *Engine) abandon(d *device) {
	for _, s := range d.members {
		s.mu.Lock()
		s.blocked = false
		s.publish()
		s.mu.Unlock()
	}
	e.nudge()
}
