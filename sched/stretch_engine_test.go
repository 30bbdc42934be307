package sched_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/sched/simrunner"
)

// gpu is a device on which steps of several models run side by side, each at a part of its speed.
type gpu struct {
	running chan int // how many
	stretch int
}

// run takes so many milliseconds of the device alone.
func (g *gpu) run(ms int) {
	g.running <- <-g.running + 1
	for left := ms * g.stretch; left > 0; {
		n := <-g.running
		g.running <- n
		time.Sleep(time.Millisecond)
		if left--; n == 1 {
			left -= g.stretch - 1
		}
	}
	g.running <- <-g.running - 1
}

type onGPU struct {
	sched.Runner
	gpu *gpu
	ms  int
}

func (r onGPU) Step(b *sched.Batch) error {
	r.gpu.run(r.ms + len(b.Rows))
	return r.Runner.Step(b)
}

// Two models side by side on a device on which that doubles the time of a step.
func TestStretchOfAConcurrentDevice(t *testing.T) {
	t.Parallel()
	for name, concurrent := range map[string]bool{"concurrent": true, "exclusive": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := &gpu{running: make(chan int, 1), stretch: 2}
				g.running <- 0
				model := simrunner.Model{Seed: 1, Vocab: 500, PageTokens: 8, Pages: 4000, Sure: 0.6, Accord: 0.9}
				e, err := sched.NewEngine(sched.Options{
					Policy: sched.Lazy, NoAhead: true, Devices: []sched.DeviceOptions{{Name: "gpu", Concurrent: concurrent}},
					Models: []sched.ModelOptions{
						{Name: "small", Runner: onGPU{simrunner.New(model), g, 5}, Info: model.Info(), Device: "gpu"},
						{Name: "large", Runner: onGPU{simrunner.New(model), g, 20}, Info: model.Info(), Device: "gpu", Threshold: sched.AutoThreshold, MaxWait: sched.AutoWait},
					},
					Routes:   []sched.RouteOptions{{Name: "pair", Algorithm: "random", Models: []string{"small", "large"}}},
					MaxQueue: 100,
				})
				require.NoError(t, err)
				var streams []*sched.Stream
				for i := range 12 {
					s, err := e.Submit(t.Context(), sched.Request{Target: "pair", Prompt: []int32{9, int32(i)}, MaxTokens: 150, IgnoreEnd: true, Sampling: sched.Sampling{Seed: uint64(i)}})
					require.NoError(t, err)
					streams = append(streams, s)
				}
				for _, s := range streams {
					for {
						event, err := s.Next(t.Context())
						require.NoError(t, err)
						if event.Finish != "" {
							require.NoError(t, event.Err)
							break
						}
					}
				}
				snap := e.Snapshot()
				require.NoError(t, e.Close(t.Context()))
				require.Equal(t, []sched.DeviceSnapshot{{Name: "gpu", Concurrent: concurrent, Models: []string{"small", "large"}}}, snap.Devices)
				for i, base := range []float64{0.005, 0.020} {
					l := snap.Models[i].Latency
					if !concurrent {
						require.Zero(t, l.Stretch)
						continue
					}
					require.InDelta(t, 2, l.Stretch, 0.25)
					require.InDelta(t, base+0.004, l.Base+4*(l.PerRequest+l.PerRow), 0.003, "the latency is that of steps alone")
				}
			})
		})
	}
}
