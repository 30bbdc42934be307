// Package simulate runs the scheduler on models and devices that need not exist: the runners only know how long a step
// takes, time is virtual, and requests go from model to model with given probabilities. Everything between is the real
// scheduler, so what it does on a GPU that nobody has yet can be seen in seconds.
package simulate
