package chat

import (
	"fmt"
	"runtime"

	"github.com/ardanlabs/jinja"
)

// A template is a program that comes with a model file. The guard ends it where it runs away: steps are counted in
// loops and macros, and recursion is stopped long before the stack of a goroutine is full, which would end the process.
// Memory is bounded in bounds.go.
const (
	maxSteps  = 300_000
	maxRange  = 100_000
	maxFrames = 10_000 // of Go's stack; a macro that calls itself takes some ten of them
	lookEvery = 64     // calls: counting frames takes time

	guardStep  = "tr_step"
	guardEnter = "tr_enter"
	guardVar   = "tr_guard"
)

type guard struct {
	steps, calls int

	value, total, spent int // bytes: the most of one value, of all, and what was made
}

func (g *guard) step([]jinja.Value, map[string]jinja.Value) (jinja.Value, error) {
	if g.steps++; g.steps > maxSteps {
		return jinja.None(), fmt.Errorf("the chat template runs for more than %d steps", maxSteps)
	}
	return jinja.None(), nil
}

func (g *guard) enter(args []jinja.Value, kw map[string]jinja.Value) (jinja.Value, error) {
	var pc [1]uintptr
	if g.calls++; g.calls%lookEvery == 0 && runtime.Callers(maxFrames, pc[:]) > 0 {
		return jinja.None(), fmt.Errorf("the chat template's macros call each other too deep")
	}
	return g.step(args, kw)
}

// limitedRange is Python's range, of a length that a template can mean.
func limitedRange(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	n := make([]int64, len(args))
	for i, a := range args {
		if !a.IsInt() {
			return jinja.None(), fmt.Errorf("range: argument %d is %s, expected a whole number", i+1, kindOf(a))
		}
		n[i] = a.AsInt()
	}
	start, stop, step := int64(0), int64(0), int64(1)
	switch len(n) {
	case 1:
		stop = n[0]
	case 2:
		start, stop = n[0], n[1]
	case 3:
		start, stop, step = n[0], n[1], n[2]
	default:
		return jinja.None(), fmt.Errorf("range: %d arguments, expected 1 to 3", len(n))
	}
	if step == 0 {
		return jinja.None(), fmt.Errorf("range: the step is 0")
	}
	var items []jinja.Value
	for i := start; step > 0 && i < stop || step < 0 && i > stop; i += step {
		if len(items) == maxRange {
			return jinja.None(), fmt.Errorf("range: more than %d numbers", maxRange)
		}
		items = append(items, jinja.NewInt(i))
	}
	return jinja.NewList(items), nil
}
