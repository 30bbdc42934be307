package bindings

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/internal/tinygguf"
)

// Many goroutines, each with its own arena of one model, under a busy garbage collector: the answers of one alone.
func TestArenasConcurrently(t *testing.T) {
	m := openModel(t, tinygguf.Options{Weights: tinygguf.Q8_0})
	ids := tokens(1, 48)
	var want []int32
	first := newArena(t, m, ArenaOptions{Pages: 2})
	for i := range ids {
		want = append(want, ask(t, first, 0, i, ids[i:i+1], everything).Token)
	}

	stop := make(chan struct{})
	collected := make(chan struct{})
	go func() {
		defer close(collected)
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	}()
	var group sync.WaitGroup
	got := make([][]int32, 8)
	errs := make([]error, len(got))
	for g := range got {
		group.Go(func() {
			a, err := m.NewArena(ArenaOptions{Pages: 2})
			if err != nil {
				errs[g] = err
				return
			}
			defer a.Close()
			b := a.NewBatch()
			for i := range ids {
				b.Reset()
				// Fresh memory for every step, of which nobody but the batch knows.
				b.AddSegment(append([]int32(nil), ids[i]), i, pages(0, 2))
				b.AddRow(&Row{Top: 10, Hidden: true, Sampling: &Sampling{SeenIDs: []int32{1}, SeenCounts: []int32{1}}})
				if errs[g] = a.Step(b); errs[g] != nil {
					return
				}
				answer := b.Answer(0)
				if answer.TopIDs[0] != answer.Token {
					errs[g] = errors.New("the most likely id is not the greedy token")
					return
				}
				got[g] = append(got[g], answer.Token)
			}
		})
	}
	group.Wait()
	close(stop)
	<-collected
	for g := range got {
		require.NoError(t, errs[g])
		require.Equal(t, want, got[g])
	}
}

// Close waits for the step that runs and refuses those that come after.
func TestCloseWhileStepping(t *testing.T) {
	m := openModel(t, tinygguf.Options{})
	for range 20 {
		a, err := m.NewArena(ArenaOptions{Pages: 16})
		require.NoError(t, err)
		started := make(chan struct{})
		ended := make(chan error)
		go func() {
			b := a.NewBatch()
			b.AddSegment(tokens(1, 512), 0, pages(0, 16))
			close(started)
			for {
				if err := a.Step(b); err != nil {
					ended <- err
					return
				}
			}
		}()
		<-started
		require.NoError(t, a.Close())
		require.ErrorIs(t, <-ended, ErrClosed)
	}
}

// A goroutine inside a native call holds no processor slot: with one slot, others run meanwhile.
func TestNativeCallDoesNotStallOthers(t *testing.T) {
	libc, err := openObject("libc.so.6")
	require.NoError(t, err)
	usleep, err := lookup(libc, "usleep")
	require.NoError(t, err)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))

	var inside atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		inside.Store(true)
		call(usleep, uintptr((300 * time.Millisecond).Microseconds()))
		inside.Store(false)
	}()
	ticks := 0
	for begin := time.Now(); time.Since(begin) < 5*time.Second; {
		select {
		case <-done:
			// Each tick is at least a millisecond, of which 300 passed inside.
			require.Greater(t, ticks, 50)
			return
		default:
		}
		time.Sleep(time.Millisecond)
		if inside.Load() {
			ticks++
		}
	}
	t.Fatal("the native call did not return")
}
