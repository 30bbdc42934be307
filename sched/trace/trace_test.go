package trace_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/sched/simrunner"
	"github.com/tokenrouter/tokenrouter/sched/trace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// event is what a viewer reads.
type event struct {
	Phase    string  `json:"ph"`
	Name     string  `json:"name"`
	Category string  `json:"cat"`
	Track    int     `json:"tid"`
	Time     float64 `json:"ts"`
	Duration float64 `json:"dur"`
	ID       string  `json:"id"`
	Args     struct {
		Name      string
		Requests  []string
		Lengths   []int
		Request   string
		Model     string
		To        string
		Threshold int
		Waiting   int
	}
}

func (e event) end() float64 { return e.Time + e.Duration }

// A step ahead of need shows on the track of its model's steps, as what it is.
func TestAhead(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	w := trace.New(&file)
	start := time.Unix(100, 0)
	w.Observer().Ahead(sched.AheadRecord{Model: "large", Start: start, End: start.Add(21 * time.Millisecond), Tokens: 16,
		Requests: []string{"a", "b"}, Lengths: []int{12, 4}, Err: io.ErrUnexpectedEOF})
	require.NoError(t, w.Close())
	var read struct{ TraceEvents []event }
	require.NoError(t, json.Unmarshal(file.Bytes(), &read))
	require.Len(t, read.TraceEvents, 3) // the process, the track, the step
	require.Equal(t, "large: decode", read.TraceEvents[1].Args.Name)
	e := read.TraceEvents[2]
	require.Equal(t, "X ahead ahead 16", e.Phase+" "+e.Category+" "+e.Name)
	require.Equal(t, read.TraceEvents[1].Track, e.Track)
	require.Equal(t, 21000.0, e.Duration)
	require.Equal(t, []string{"a", "b"}, e.Args.Requests)
	require.Equal(t, []int{12, 4}, e.Args.Lengths)
}

// recorded runs requests over two models on devices of their own, at B = 3, on a virtual clock, and returns the events and the
// names of their tracks.
func recorded(t *testing.T) (events []event, tracks map[int]string) {
	t.Helper()
	var file bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		w := trace.New(&file)
		share := 0.3
		script := simrunner.Script{Default: router.Row{Token: 20}}
		model := func(name string, latency time.Duration, threshold int) sched.ModelOptions {
			script.Latency = latency
			return sched.ModelOptions{Name: name, Device: name, Runner: script, Info: script.Info(1), Threshold: threshold}
		}
		e, err := sched.NewEngine(sched.Options{
			Models:   []sched.ModelOptions{model("small", 10*time.Millisecond, 1), model("large", 43*time.Millisecond, 3)},
			Routes:   []sched.RouteOptions{{Name: "r", Algorithm: "random", Models: []string{"small", "large"}, Params: router.Params{Threshold: &share}}},
			Policy:   sched.Lazy,
			Observer: w.Observer(),
		})
		require.NoError(t, err)
		var streams []*sched.Stream
		for i := range 8 {
			s, err := e.Submit(t.Context(), sched.Request{Target: "r", Prompt: []int32{5, 6}, MaxTokens: 60, Sampling: sched.Sampling{Seed: uint64(i)}})
			require.NoError(t, err)
			streams = append(streams, s)
		}
		for _, s := range streams {
			for err := error(nil); err != io.EOF; _, err = s.Next(t.Context()) {
				require.NoError(t, err)
			}
		}
		require.NoError(t, e.Close(t.Context()))
		require.NoError(t, w.Close())
	})
	var text struct{ TraceEvents []event }
	require.NoError(t, json.Unmarshal(file.Bytes(), &text))
	tracks = make(map[int]string)
	for _, e := range text.TraceEvents {
		if e.Phase == "M" && e.Name == "thread_name" {
			tracks[e.Track] = e.Args.Name
		} else {
			events = append(events, e)
		}
	}
	return events, tracks
}

// A trace shows that the loops run beside one another, that a batch starts when its threshold is met, and that a request that
// is away is in no batch and holds nobody up.
func TestTraceOfARun(t *testing.T) {
	t.Parallel()
	events, tracks := recorded(t)
	require.Len(t, tracks, 5, "three loops of two models, but the large one has no clients of its own: %v", tracks)
	steps := map[string][]event{}
	for _, e := range events {
		if e.Category == "step" {
			steps[tracks[e.Track]] = append(steps[tracks[e.Track]], e)
			require.Len(t, e.Args.Lengths, len(e.Args.Requests))
		}
	}
	small, large := steps["small: decode"], steps["large: decode"]
	require.NotEmpty(t, large)

	overlaps := 0
	for _, l := range large {
		for _, s := range small {
			if s.Time < l.end() && l.Time < s.end() {
				overlaps++
			}
		}
	}
	require.Greater(t, overlaps, len(large), "several small steps during a large one")

	// A batch takes all that wait. The threshold is met when the third of them comes.
	checked := 0
	for i, l := range large {
		free := 0.0 // when the large model had ended its step before
		if i > 0 {
			free = large[i-1].end()
		}
		var came []float64
		for _, e := range events {
			if e.Phase == "f" && tracks[e.Track] == "large: peers" && e.Time <= l.Time {
				came = append(came, e.Time)
			}
		}
		n := len(l.Args.Requests)
		if n < 3 {
			continue // the last requests, or nothing else went on
		}
		checked++
		require.InDelta(t, math.Max(free, came[len(came)-n+2]), l.Time, 0.001, "step %d of the large model", i)
	}
	require.Greater(t, checked, 5)

	// A request that is away from the small model is in none of its batches, and these go on at their pace.
	away := map[string]float64{}
	spans, beside := 0, 0
	for _, e := range events {
		switch {
		case e.Phase == "b" && e.Args.Model == "small":
			away[e.ID] = e.Time
		case e.Phase == "e" && away[e.ID] > 0:
			begin := away[e.ID]
			delete(away, e.ID)
			spans++
			for _, s := range small {
				if s.Time >= begin && s.end() <= e.Time {
					beside++
					require.NotContains(t, s.Args.Requests, e.ID[:len(e.ID)-len(" at small")])
					require.InDelta(t, 10_000, s.Duration, 0.001)
				}
			}
		}
	}
	require.Greater(t, spans, 20)
	require.Greater(t, beside, spans)

	// Whoever stays at the small model is in its next step, which starts when the one before has ended, whoever is away.
	left := func(request string, from, to float64) bool {
		return slices.ContainsFunc(events, func(e event) bool {
			return e.Phase == "b" && e.ID == request+" at small" && e.Time >= from && e.Time <= to
		})
	}
	stayed := 0
	for i := range small[1:] {
		before, next := small[i], small[i+1]
		for _, r := range before.Args.Requests {
			if slices.Contains(next.Args.Requests, r) && !left(r, before.end(), next.Time) {
				stayed++
				require.InDelta(t, before.end(), next.Time, 0.001, "step %d of the small model", i+1)
			}
		}
	}
	require.Greater(t, stayed, 100)

	// Every arrow has both ends.
	ends := map[string]int{}
	for _, e := range events {
		switch e.Phase {
		case "s":
			ends[e.ID]++
		case "f":
			ends[e.ID] += 10
		}
	}
	for id, n := range ends {
		require.Equal(t, 11, n, "arrow %s", id)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriteErrors(t *testing.T) {
	t.Parallel()
	w := trace.New(full{})
	require.EqualError(t, w.Close(), "write the trace: disk full")
	ok := trace.New(io.Discard)
	require.NoError(t, ok.Close())
	require.EqualError(t, ok.Close(), "write the trace: the trace is closed")
	ok.Observer().Batch(sched.BatchRecord{}) // comes too late, and is dropped
}
