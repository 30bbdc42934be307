package sched

import "fmt"

// Head is a router head: a small network that scores rows of one model. A runner knows heads of its own kind only. Heads are
// immutable, and outlive the engine.
type Head interface {
	// Algorithm is the one that the head was made for; "" if that is not known.
	Algorithm() string
	// Top is how many of the largest logits the head looks at.
	Top() int
}

// HeadRunner is a [Runner] that scores the rows that name a head ([Row.Head]).
type HeadRunner interface {
	Runner
	// CheckHead says why the runner cannot score rows by the head; nil if it can.
	CheckHead(h Head) error
}

// checkHead says why an algorithm that needs a head for a model of the route cannot have one.
func (t *target) checkHead(algorithm string, model int) error {
	switch {
	case model != 0:
		return fmt.Errorf("algorithm %q needs a router head for model %q: only the entry of a route, %q, has one", algorithm, t.models[model], t.models[0])
	case t.head == nil:
		return fmt.Errorf("algorithm %q needs a router head for model %q, and %q has none: give the route a head, or use another algorithm",
			algorithm, t.models[0], t.name)
	case t.head.Algorithm() != "" && t.head.Algorithm() != algorithm:
		return fmt.Errorf("the router head of %q was made for algorithm %q, whose scores mean something else to %q: use that algorithm, or a head for this one",
			t.name, t.head.Algorithm(), algorithm)
	}
	return nil
}

// checkOwnHead says why the head of a route is of no use to its own algorithm, or to its entry's runner.
func (t *target) checkOwnHead(needed bool, runner Runner) error {
	switch r, ok := runner.(HeadRunner); {
	case t.head == nil:
		return nil
	case !needed:
		return fmt.Errorf("algorithm %q needs no router head, and one is given: leave it out", t.algorithm)
	case !ok:
		return fmt.Errorf("the runner of model %q scores by no router head", t.models[0])
	default:
		if err := r.CheckHead(t.head); err != nil {
			return fmt.Errorf("router head for model %q: %w", t.models[0], err)
		}
		return nil
	}
}
