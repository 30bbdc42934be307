package exactness

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/tests/internal/realmodels"
)

// journal counts what the scheduler did, so that a test can assert that it was not spared the hard cases.
type journal struct {
	mu       sync.Mutex
	sizes    map[int]int    // batches by number of requests
	mixed    int            // batches that held prompt tokens and decoded ones
	resumed  int            // batches that appended what came back from a peer
	overlap  map[string]int // by model: steps while requests of its were pending at the other
	handoffs map[string]int // by "from>to"
	faults   []string
}

// observer fills the journal.
func (j *journal) observer() *sched.Observer {
	return &sched.Observer{
		Batch: func(b sched.BatchRecord) {
			j.mu.Lock()
			defer j.mu.Unlock()
			j.count(b)
		},
		Handoff: func(h sched.HandoffRecord) {
			j.mu.Lock()
			defer j.mu.Unlock()
			j.handoffs[h.From+">"+h.To]++
		},
		Fault: func(model string, err error) {
			j.mu.Lock()
			defer j.mu.Unlock()
			j.faults = append(j.faults, fmt.Sprintf("%s: %v", model, err))
		},
	}
}

func (j *journal) count(b sched.BatchRecord) {
	j.sizes[b.Segments]++
	if b.Prefill > 0 && b.Decode > 0 {
		j.mixed++
	}
	if b.Resume > 0 {
		j.resumed++
	}
	if b.Pending > 0 {
		j.overlap[b.Model]++
	}
}

func (j *journal) reset() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.sizes, j.overlap, j.handoffs = make(map[int]int), make(map[string]int), make(map[string]int)
	j.mixed, j.resumed, j.faults = 0, 0, nil
}

// take returns a copy of what was counted since the reset.
func (j *journal) take() *journal {
	j.mu.Lock()
	defer j.mu.Unlock()
	return &journal{
		sizes: maps.Clone(j.sizes), overlap: maps.Clone(j.overlap), handoffs: maps.Clone(j.handoffs),
		mixed: j.mixed, resumed: j.resumed, faults: slices.Clone(j.faults),
	}
}

// add counts the counts of another journal, which nobody else uses.
func (j *journal) add(o *journal) {
	if j.sizes == nil {
		j.reset()
	}
	for size, n := range o.sizes {
		j.sizes[size] += n
	}
	for model, n := range o.overlap {
		j.overlap[model] += n
	}
	for pair, n := range o.handoffs {
		j.handoffs[pair] += n
	}
	j.mixed += o.mixed
	j.resumed += o.resumed
	j.faults = append(j.faults, o.faults...)
}

func (j *journal) account() string {
	steps := 0
	for _, n := range j.sizes {
		steps += n
	}
	return fmt.Sprintf("%d steps of 1 to %d requests, %d mixed, %d resuming, handoffs %v, steps with requests away %v",
		steps, slices.Max(slices.Collect(maps.Keys(j.sizes))), j.mixed, j.resumed, j.handoffs, j.overlap)
}

const (
	toLarge = realmodels.Small + ">" + realmodels.Large
	toSmall = realmodels.Large + ">" + realmodels.Small
)

// expectVariety asserts that a run in full length met what its cell is about.
func (j *journal) expectVariety(t *testing.T, c cell) {
	t.Helper()
	require.Empty(t, j.faults)
	require.NotZero(t, j.handoffs[toLarge])
	require.NotZero(t, j.handoffs[toSmall])
	require.NotZero(t, j.resumed)
	if c.concurrency > 1 {
		require.GreaterOrEqual(t, len(j.sizes), 3, "sizes of batches: %v", j.sizes)
		require.NotZero(t, j.mixed, "batches of prefill and decode")
		require.NotZero(t, j.overlap[realmodels.Small], "steps of the small model while requests were at the large one")
	}
}

// expectEverything asserts that all runs together met it all.
func (j *journal) expectEverything(t *testing.T) {
	t.Helper()
	t.Logf("all together: %s", j.account())
	require.Empty(t, j.faults)
	require.GreaterOrEqual(t, len(j.sizes), 8, "sizes of batches: %v", j.sizes)
	require.NotZero(t, j.mixed)
	require.NotZero(t, j.handoffs[toLarge])
	require.NotZero(t, j.handoffs[toSmall])
	require.NotZero(t, j.overlap[realmodels.Small])
	require.NotZero(t, j.overlap[realmodels.Large], "steps of the large model while its requests were back at the small one")
}
