package bindings

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/internal/tinygguf"
)

// everything a row can ask for.
var everything = Row{Top: 10, Hidden: true, Logits: true, Sampling: &Sampling{}}

func TestStepAnswers(t *testing.T) {
	for _, weights := range []tinygguf.Type{tinygguf.F32, tinygguf.Q8_0} {
		m := openModel(t, tinygguf.Options{Weights: weights})
		a := newArena(t, m, ArenaOptions{Pages: 4})
		got := ask(t, a, 0, 0, tokens(1, 40), everything)

		require.Len(t, got.Logits, m.Info().Vocab)
		require.Len(t, got.Hidden, m.Info().Embd)
		checkSignals(t, got, got.Logits)
		require.Equal(t, got.TopIDs[0], got.Token, "greedy")
		require.Greater(t, float64(got.Entropy), 0.1, "a tiny model is unsure")
		for _, v := range got.Hidden {
			require.False(t, math.IsNaN(float64(v)))
		}

		// Ids at and above Vocab are out of play, and so are those outside of Valid.
		valid := make([]uint32, (300+31)/32)
		for i := range int32(100) {
			if i != got.Token {
				valid[i/32] |= 1 << (i % 32)
			}
		}
		masked := ask(t, a, 0, 0, tokens(1, 40), Row{Top: 10, Vocab: 90, Valid: valid, Sampling: &Sampling{}})
		inPlay := make([]float32, 300)
		for i := range inPlay {
			inPlay[i] = float32(math.Inf(-1))
			if i < 90 && valid[i/32]>>(i%32)&1 == 1 {
				inPlay[i] = got.Logits[i]
			}
		}
		checkSignals(t, masked, inPlay)
		require.Nil(t, masked.Hidden)
		require.Nil(t, masked.Logits)

		nothing := ask(t, a, 0, 0, tokens(1, 40), Row{})
		require.Equal(t, Answer{Token: -1, LogSumExp: got.LogSumExp, Entropy: got.Entropy, LogProb: nothing.LogProb}, nothing)
	}
}

// checkSignals compares an answer with what the definitions of the header make of the logits in play.
func checkSignals(t *testing.T, got Answer, logits []float32) {
	t.Helper()
	var sum, weighted float64
	for _, l := range logits {
		if !math.IsInf(float64(l), -1) {
			sum += math.Exp(float64(l))
			weighted += math.Exp(float64(l)) * float64(l)
		}
	}
	logSumExp := math.Log(sum)
	require.InDelta(t, logSumExp, float64(got.LogSumExp), 1e-5)
	require.InDelta(t, logSumExp-weighted/sum, float64(got.Entropy), 1e-5)

	order := make([]int32, len(logits))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(x, y int32) int { return cmp.Compare(logits[y], logits[x]) })
	require.Equal(t, order[:10], got.TopIDs)
	for i, id := range got.TopIDs {
		require.Equal(t, logits[id], got.TopLogits[i])
	}
	require.InDelta(t, float64(logits[got.Token])-logSumExp, float64(got.LogProb), 1e-5)
}

// The same alone, in a batch, and after any chunking: bit for bit.
func TestStepIsTheSameInAnyBatch(t *testing.T) {
	m := openModel(t, tinygguf.Options{Weights: tinygguf.Q8_0})
	a := newArena(t, m, ArenaOptions{Pages: 64})
	sampled := everything
	sampled.Sampling = &Sampling{Temperature: 0.8, TopK: 50, TopP: 0.95, Seed: 7, Stream: 1}

	lengths := []int{1, 5, 31, 32, 33, 70}
	var alone []Answer
	for i, n := range lengths {
		alone = append(alone, ask(t, a, 0, 0, tokens(i, n), sampled))
	}

	b := a.NewBatch()
	for round, chunk := range []int{1000, 1, 7, 32} {
		b.Reset()
		for position := 0; position < slices.Max(lengths); position += chunk {
			b.Reset()
			rows := map[int]int{} // sequence -> row
			for i, n := range lengths {
				if position >= n {
					continue
				}
				end := min(position+chunk, n)
				b.AddSegment(tokens(i, n)[position:end], position, pages(8*i+round%2, 5))
				if end == n {
					rows[i] = len(b.rows)
					r := sampled
					r.Segment, r.Offset = len(b.segments)-1, end-position-1
					b.AddRow(&r)
				}
			}
			require.NoError(t, a.Step(b))
			for i, r := range rows {
				require.Equal(t, alone[i], clone(b.Answer(r)), "length %d in chunks of %d", lengths[i], chunk)
			}
		}
	}
}

// Several rows of one segment, in any order.
func TestRowsWithinASegment(t *testing.T) {
	m := openModel(t, tinygguf.Options{})
	a := newArena(t, m, ArenaOptions{Pages: 8})
	ids := tokens(3, 20)
	b := a.NewBatch()
	b.AddSegment(ids, 0, pages(0, 1))
	offsets := []int{19, 0, 7}
	for _, o := range offsets {
		r := everything
		r.Offset = o
		b.AddRow(&r)
	}
	require.NoError(t, a.Step(b))
	for i, o := range offsets {
		got := clone(b.Answer(i))
		b2 := ask(t, newArena(t, m, ArenaOptions{Pages: 1}), 0, 0, ids[:o+1], everything)
		require.Equal(t, b2, got)
	}
}

func TestSampling(t *testing.T) {
	m := openModel(t, tinygguf.Options{})
	a := newArena(t, m, ArenaOptions{Pages: 1})
	ids := tokens(5, 12)
	draw := func(s Sampling) Answer { return ask(t, a, 0, 0, ids, Row{Top: 5, Logits: true, Sampling: &s}) }
	plain := draw(Sampling{})
	best, second := plain.TopIDs[0], plain.TopIDs[1]
	gap := plain.TopLogits[0] - plain.TopLogits[1]

	t.Run("bias", func(t *testing.T) {
		got := draw(Sampling{BiasIDs: []int32{best, 200}, Bias: []float32{-100, 0}})
		require.Equal(t, second, got.Token)
		require.InDelta(t, plain.TopLogits[1]-plain.LogSumExp, got.LogProb, 1e-5, "log-probabilities are before the bias")
		require.Equal(t, plain.TopIDs, got.TopIDs)
		require.Equal(t, int32(200), draw(Sampling{BiasIDs: []int32{200}, Bias: []float32{100}}).Token)
	})
	t.Run("penalties", func(t *testing.T) {
		seen := Sampling{SeenIDs: []int32{best}, SeenCounts: []int32{3}}
		require.Equal(t, best, draw(seen).Token, "all off")
		s := seen
		s.PresencePenalty = gap * 1.01
		require.Equal(t, second, draw(s).Token)
		s.PresencePenalty = gap * 0.99
		require.Equal(t, best, draw(s).Token)
		s = seen
		s.FrequencyPenalty = gap * 1.01 / 3
		require.Equal(t, second, draw(s).Token)
		s.FrequencyPenalty = gap * 0.99 / 3
		require.Equal(t, best, draw(s).Token)
		s = seen
		s.RepetitionPenalty = plain.TopLogits[0] / plain.TopLogits[1] * 1.01
		require.Positive(t, plain.TopLogits[1])
		require.Equal(t, second, draw(s).Token)
	})
	t.Run("allowed", func(t *testing.T) {
		allowed := make([]uint32, (300+31)/32)
		require.Equal(t, int32(-1), draw(Sampling{Allowed: allowed}).Token, "none may be drawn")
		allowed[77/32] |= 1 << (77 % 32)
		got := draw(Sampling{Allowed: allowed, Temperature: 2, Seed: 1})
		require.Equal(t, int32(77), got.Token)
		require.InDelta(t, plain.Logits[77]-plain.LogSumExp, got.LogProb, 1e-5)
	})
	t.Run("draws", func(t *testing.T) {
		drawn := map[int32]int{}
		for seed := range uint64(200) {
			s := Sampling{Temperature: 1.5, Seed: seed}
			got := draw(s).Token
			require.Equal(t, got, draw(s).Token, "a draw is a function of its seed")
			drawn[got]++
			require.Equal(t, best, draw(Sampling{Temperature: 1.5, TopK: 1, Seed: seed}).Token)
			require.Contains(t, plain.TopIDs[:2], draw(Sampling{Temperature: 1.5, TopK: 2, Seed: seed}).Token)
		}
		require.Greater(t, len(drawn), 10)
		differ := func(change func(*Sampling)) bool {
			for seed := range uint64(20) {
				s := Sampling{Temperature: 1.5, Seed: seed}
				other := s
				change(&other)
				if draw(s).Token != draw(other).Token {
					return true
				}
			}
			return false
		}
		require.True(t, differ(func(s *Sampling) { s.Stream = 1 }))
		require.True(t, differ(func(s *Sampling) { s.Choice = 1 }))
		require.False(t, differ(func(*Sampling) {}))
	})
}

// Steps that succeed are counted. On the processor none is recorded, and so none is said to have hit or missed.
func TestDescribeArena(t *testing.T) {
	a := newArena(t, openModel(t, tinygguf.Options{}), ArenaOptions{Pages: 1})
	for steps := range uint64(3) {
		counts, err := a.Describe()
		require.NoError(t, err)
		require.Equal(t, ArenaCounts{Steps: steps}, counts)
		ask(t, a, 0, 0, tokens(1, 5), Row{})
	}
	b := a.NewBatch()
	b.AddSegment(tokens(1, 5), 0, nil)
	require.ErrorIs(t, a.Step(b), ErrArgument)
	counts, err := a.Describe()
	require.NoError(t, err)
	require.Equal(t, uint64(3), counts.Steps, "a batch that is refused is no step")
	require.NoError(t, a.Close())
	_, err = a.Describe()
	require.ErrorIs(t, err, ErrClosed)
}

func TestCopyPage(t *testing.T) {
	m := openModel(t, tinygguf.Options{})
	a := newArena(t, m, ArenaOptions{Pages: 3})
	ids := tokens(9, 20)
	ask(t, a, 0, 0, ids[:19], Row{})
	want := ask(t, a, 0, 19, ids[19:], everything)
	require.NoError(t, a.CopyPage(0, 2))
	ask(t, a, 0, 0, tokens(10, 20), Row{}) // overwrites the original
	require.Equal(t, want, ask(t, a, 2, 19, ids[19:], everything))
}
