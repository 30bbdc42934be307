package sched

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Overlap is the time in which more than one step runs, whoever's it is.
func TestOverlapOfSteps(t *testing.T) {
	t.Parallel()
	at := func(ms int) time.Time { return time.Unix(0, 0).Add(time.Duration(ms) * time.Millisecond) }
	var d device
	a := d.begun(at(0))
	b := d.begun(at(10)) // 10 to 25: two
	c := d.begun(at(20)) // 20 to 25: three
	require.Equal(t, 15*time.Millisecond, d.ended(at(25))-a)
	require.Equal(t, 20*time.Millisecond, d.ended(at(30))-b)
	require.Equal(t, 10*time.Millisecond, d.ended(at(40))-c)
	require.Zero(t, d.ended(at(60))-d.begun(at(50)))
}

// Times made up from the formula give the stretch that they were made with, and leave the latency alone.
func TestStretchIsFound(t *testing.T) {
	t.Parallel()
	alone := func(n int) time.Duration { return time.Duration(8+n) * time.Millisecond }
	o := observed{}
	for n := 1; n <= 16; n++ {
		o.profile = append(o.profile, shapeOf(n, n, alone(n)))
	}
	require.Zero(t, o.stretch())
	for i := range 60 {
		n := 1 + i%16
		w := alone(n)
		beside := w * time.Duration(i%4) / 4 // work that is done beside another step
		overlap := time.Duration(1.6 * float64(beside))
		o.overlapped(n, n, w-beside+overlap, overlap)
	}
	require.InDelta(t, 1.6, o.stretch(), 0.02)
	latency, known := o.latency()
	require.True(t, known)
	require.InDelta(t, alone(5).Seconds(), latency.Step(5, 5), 1e-4)
}
