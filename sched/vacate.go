package sched

import "fmt"

// Vacate forgets what is in the KV cache of a model, so that its runner may lose it: afterwards nothing there is counted on. It
// is a *BusyError while requests are queued or live that may come to the model, or traces of them are left there; then nothing
// has changed. That none comes meanwhile, and until the runner can step again, is the caller's business.
func (e *Engine) Vacate(model string) error {
	s := e.byName[model]
	if s == nil {
		return fmt.Errorf("%w: there is no %q", ErrUnknownTarget, model)
	}
	e.mu.Lock()
	n := e.perModel[model]
	e.mu.Unlock()
	if n > 0 {
		return &BusyError{model, n}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.counts { // those that have ended, and are in the last step or have not been told, too
		if n > 0 {
			return &BusyError{Model: model}
		}
	}
	s.pool.Forget()
	return nil
}
