package sched

import "sync"

// device is what models run on. An exclusive one runs one step at a time, in the order in which the steps were asked
// for: a sync.Mutex would let a model that has just stepped barge in front of one that waits.
type device struct {
	concurrent bool
	mu         sync.Mutex
	busy       bool
	waiting    []chan struct{}
}

// acquire waits for the caller's turn.
func (d *device) acquire() {
	if d.concurrent {
		return
	}
	d.mu.Lock()
	if !d.busy {
		d.busy = true
		d.mu.Unlock()
		return
	}
	turn := make(chan struct{})
	d.waiting = append(d.waiting, turn)
	d.mu.Unlock()
	<-turn
}

// release ends the turn and hands the device to whoever has waited longest.
func (d *device) release() {
	if d.concurrent {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.waiting) == 0 {
		d.busy = false
		return
	}
	close(d.waiting[0])
	d.waiting[0] = nil
	d.waiting = d.waiting[1:]
}
