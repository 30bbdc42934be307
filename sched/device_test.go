package sched

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Whoever asked first goes first, also before one that has just been: a model that steps without a pause does not keep
// another one off the device.
func TestDeviceIsFair(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d device
		var order []int // guarded by the device
		d.acquire()
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				for range 2 {
					d.acquire()
					order = append(order, i)
					time.Sleep(time.Millisecond)
					d.release()
				}
			})
			synctest.Wait() // i stands in line before i+1 comes
		}
		d.release()
		wg.Wait()
		require.Equal(t, []int{0, 1, 2, 3, 0, 1, 2, 3}, order)
		require.False(t, d.busy)
		require.Empty(t, d.waiting)
	})
}

func TestConcurrentDeviceHasNoTurns(t *testing.T) {
	t.Parallel()
	d := device{concurrent: true}
	d.acquire()
	d.acquire() // would wait for ever on an exclusive one
	d.release()
	d.release()
}

func TestExclusiveDeviceExcludes(t *testing.T) {
	t.Parallel()
	var d device
	var inside, most atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				d.acquire()
				most.Store(max(most.Load(), inside.Add(1)))
				inside.Add(-1)
				d.release()
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, most.Load())
}
