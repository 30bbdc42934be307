package simrunner

import (
	"fmt"
	"math"

	"github.com/tokenrouter/tokenrouter/sched"
)

// answer fills in a row from its sequence, read back through the page table. The hash of the model and the sequence
// gives the signals; together with the sampling parameters it gives the token.
func (r *Runner) answer(s *sched.Segment, row *sched.Row) error {
	length := s.Position + row.Offset + 1
	h, common := mix(r.model.Seed), mix(0)
	for p := range length {
		t := *r.cell(s, p)
		if t < 0 {
			return fmt.Errorf("position %d of %d is not in the cache", p, length)
		}
		h, common = mix(h^uint64(t)), mix(common^uint64(t))
	}
	if err := r.checkHistory(s, row, length); err != nil {
		return err
	}

	// The signals do not depend on how the token is drawn.
	most := math.Log(float64(row.Vocab))
	entropy := 0.01 * uniform(mix(h^1))
	if uniform(mix(h^2)) >= r.model.Sure {
		entropy = most * uniform(mix(h^3))
	}
	row.Out.Entropy = float32(min(entropy, most))
	row.Out.LogSumExp = float32(10 * uniform(mix(h^4)))
	row.Out.LogProb = float32(-entropy * uniform(mix(h^5)))

	own := h
	if uniform(mix(h^20)) < r.model.Accord {
		own = common
	}
	row.Out.Token = allowed(r.token(own, length, row), row)
	n := min(row.Needs.Top, row.Vocab)
	row.Out.TopIDs, row.Out.TopLogits = take(&r.ids, n), take(&r.floats, n)
	first := mix(h^6) % uint64(row.Vocab)
	for i := range n {
		row.Out.TopIDs[i] = int32((first + uint64(i)) % uint64(row.Vocab))
		row.Out.TopLogits[i] = row.Out.LogSumExp + row.Out.LogProb - float32(i)
	}
	row.Out.HeadLogit = 0
	if head, ok := row.Head.(Head); ok {
		row.Out.HeadLogit = head.score(h, row.Out.Token)
	}
	row.Out.Hidden = nil
	if row.Needs.Hidden {
		row.Out.Hidden = take(&r.floats, hiddenSize)
		for i := range row.Out.Hidden {
			row.Out.Hidden[i] = float32(2*uniform(mix(h^uint64(11+i))) - 1)
		}
	}
	return nil
}

// hiddenSize is the number of floats of a hidden state.
const hiddenSize = 8

// take hands out memory of the runner, which the next step uses again.
func take[T any](pool *[]T, n int) []T {
	start := len(*pool)
	*pool = append(*pool, make([]T, n)...)
	return (*pool)[start : start+n : start+n]
}

// reuse takes the memory of the last step back. Whoever still reads it sees nonsense.
func (r *Runner) reuse() {
	for i := range r.ids {
		r.ids[i] = -1
	}
	for i := range r.floats {
		r.floats[i] = float32(math.NaN())
	}
	r.ids, r.floats = r.ids[:0], r.floats[:0]
}

// token draws: with temperature 0 from the sequence alone, else from the seed, choice, position and stream too, as the
// counter-based generator of the native library does. Every other parameter changes the outcome in its own way.
func (r *Runner) token(h uint64, position int, row *sched.Row) int32 {
	s := row.Sampling
	d := mix(h ^ 7)
	if s.Temperature > 0 {
		for _, x := range []uint64{s.Seed, uint64(s.Choice), uint64(position), uint64(row.Stream), float(s.Temperature),
			uint64(s.TopK), float(s.TopP), float(s.MinP)} {
			d = mix(d ^ x)
		}
	}
	for i, id := range s.BiasIDs {
		d = mix(d ^ uint64(id) ^ float(s.Bias[i])<<32)
	}
	if row.History != nil {
		d = mix(d ^ float(s.RepetitionPenalty) ^ float(s.PresencePenalty)<<16 ^ float(s.FrequencyPenalty)<<32)
	}
	if len(r.model.EndIDs) > 0 && uniform(mix(d^8)) < r.model.EndRate {
		if id := r.model.EndIDs[mix(d^9)%uint64(len(r.model.EndIDs))]; int(id) < row.Vocab {
			return id
		}
	}
	id := int32(mix(d^10) % uint64(row.Vocab))
	for i := range r.model.EndIDs { // only at EndRate
		if id == r.model.EndIDs[i] {
			return (id + 1) % int32(row.Vocab)
		}
	}
	return id
}

// allowed is the id itself if it may be drawn, or else the next one that may; -1 if there is none.
func allowed(id int32, row *sched.Row) int32 {
	if row.Allowed == nil {
		return id
	}
	for i := range int32(row.Vocab) {
		at := (id + i) % int32(row.Vocab)
		if int(at/32) < len(row.Allowed) && row.Allowed[at/32]>>(at%32)&1 == 1 {
			return at
		}
	}
	return -1
}

// checkHistory compares the history that was handed in with one taken from the cache.
func (r *Runner) checkHistory(s *sched.Segment, row *sched.Row, length int) error {
	if row.History == nil {
		return nil
	}
	var want sched.History
	for p := range length {
		want.Add(*r.cell(s, p))
	}
	if len(want.IDs) != len(row.History.IDs) {
		return fmt.Errorf("the history has %d distinct ids, the sequence %d", len(row.History.IDs), len(want.IDs))
	}
	for i, id := range want.IDs {
		if row.History.IDs[i] != id || row.History.Counts[i] != want.Counts[i] {
			return fmt.Errorf("the history has id %d %d times, the sequence id %d %d times",
				row.History.IDs[i], row.History.Counts[i], id, want.Counts[i])
		}
	}
	return nil
}
