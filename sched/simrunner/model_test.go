package simrunner

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
)

func segment(position int, pages []int32, tokens ...int32) sched.Segment {
	return sched.Segment{Tokens: tokens, Position: position, Pages: pages}
}

func rowAt(segment, offset int, s sched.Sampling) sched.Row {
	return sched.Row{Segment: segment, Offset: offset, Vocab: 1000, Sampling: &s,
		Needs: router.Needs{Top: 2, Hidden: true}}
}

// answerOf returns a copy of the answer after a sequence that is extended in chunks, on the given pages.
func answerOf(t *testing.T, m Model, pages []int32, s sched.Sampling, tokens []int32, chunks ...int) router.Row {
	t.Helper()
	r := New(m)
	at := 0
	for _, n := range append(chunks, len(tokens)) {
		n = min(n, len(tokens)-at)
		if n == 0 {
			break
		}
		b := sched.Batch{Segments: []sched.Segment{segment(at, pages, tokens[at:at+n]...)}, Rows: []sched.Row{rowAt(0, n-1, s)}}
		require.NoError(t, r.Step(&b))
		at += n
		if at == len(tokens) {
			return b.Rows[0].Out
		}
	}
	t.Fatal("no tokens")
	return router.Row{}
}

// The answer is a function of the sequence, the sampling and the model: not of pages and chunks.
func TestAnswerIsPure(t *testing.T) {
	t.Parallel()
	m := Model{Seed: 5, PageTokens: 2, Pages: 8}
	greedy, seeded := sched.Sampling{}, sched.Sampling{Temperature: 1, Seed: 9}
	tokens := []int32{10, 20, 30, 40, 50}
	base := answerOf(t, m, []int32{0, 1, 2}, greedy, tokens)
	require.Equal(t, base, answerOf(t, m, []int32{7, 3, 5}, greedy, tokens, 1, 3))
	require.Equal(t, base, answerOf(t, m, []int32{0, 1, 2}, sched.Sampling{Seed: 77}, tokens), "greedy knows no seed")

	require.NotEqual(t, base.Token, answerOf(t, m, []int32{0, 1, 2}, greedy, []int32{10, 20, 31, 40, 50}).Token)
	require.NotEqual(t, base.Token, answerOf(t, m, []int32{0, 1, 2}, seeded, tokens).Token)
	require.NotEqual(t, base.Token, answerOf(t, Model{Seed: 6, PageTokens: 2, Pages: 8}, []int32{0, 1, 2}, greedy, tokens).Token)
	other := answerOf(t, m, []int32{0, 1, 2}, seeded, tokens)
	require.Equal(t, base.Entropy, other.Entropy, "signals do not depend on the sampling")
	require.Equal(t, base.TopIDs, other.TopIDs)
	require.Equal(t, base.Hidden, other.Hidden)
}

// What a scheduler can do wrong with pages is an error or another answer.
func TestFaultsShow(t *testing.T) {
	t.Parallel()
	m := Model{PageTokens: 2, Pages: 4}
	for name, c := range map[string]struct {
		b    sched.Batch
		want string
	}{
		"empty":             {sched.Batch{}, "without segments"},
		"no tokens":         {sched.Batch{Segments: []sched.Segment{segment(0, []int32{0})}}, "0 tokens at position 0"},
		"short table":       {sched.Batch{Segments: []sched.Segment{segment(0, []int32{0}, 1, 2, 3)}}, "tokens up to 3, but pages for 2"},
		"unknown page":      {sched.Batch{Segments: []sched.Segment{segment(0, []int32{4}, 1)}}, "page 4 is not one of 4"},
		"unknown token":     {sched.Batch{Segments: []sched.Segment{segment(0, []int32{0}, 1000)}}, "token 1000 is not one of 1000"},
		"beyond context":    {sched.Batch{Segments: []sched.Segment{segment(8, []int32{0, 1, 2, 3, 0}, 1)}}, "beyond the context of 8"},
		"shared page":       {sched.Batch{Segments: []sched.Segment{segment(0, []int32{0}, 1), segment(0, []int32{0}, 2)}}, "page 0 is written by two segments"},
		"hole":              {sched.Batch{Segments: []sched.Segment{segment(1, []int32{0}, 1)}}, "position 0 of 1 is not in the cache"},
		"row of no segment": {sched.Batch{Segments: []sched.Segment{segment(0, []int32{0}, 1)}, Rows: []sched.Row{rowAt(1, 0, sched.Sampling{})}}, "segment 1 of 1"},
		"row of no token":   {sched.Batch{Segments: []sched.Segment{segment(0, []int32{0}, 1)}, Rows: []sched.Row{rowAt(0, 1, sched.Sampling{})}}, "offset 1 of 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.ErrorContains(t, New(m).Step(&c.b), c.want)
		})
	}

	// A page that another sequence has written in the meantime: no error, but another token.
	r, tokens := New(m), []int32{1, 2, 3}
	clean := answerOf(t, m, []int32{0, 1}, sched.Sampling{}, tokens)
	require.NoError(t, r.Step(&sched.Batch{Segments: []sched.Segment{segment(0, []int32{0, 1}, 1, 2)}}))
	require.NoError(t, r.Step(&sched.Batch{Segments: []sched.Segment{segment(0, []int32{0}, 9)}}))
	b := sched.Batch{Segments: []sched.Segment{segment(2, []int32{0, 1}, 3)}, Rows: []sched.Row{rowAt(0, 0, sched.Sampling{})}}
	require.NoError(t, r.Step(&b))
	require.NotEqual(t, clean.Token, b.Rows[0].Out.Token)
}

func TestHistoryIsChecked(t *testing.T) {
	t.Parallel()
	h := &sched.History{}
	h.Add(5, 6, 5)
	for _, c := range []struct {
		tokens []int32
		want   string
	}{
		{[]int32{5, 6, 5}, ""},
		{[]int32{5, 6}, "the history has id 5 2 times, the sequence id 5 1 times"},
		{[]int32{5, 5, 5}, "2 distinct ids, the sequence 1"},
	} {
		r := New(Model{})
		row := rowAt(0, len(c.tokens)-1, sched.Sampling{PresencePenalty: 1})
		row.History = h
		err := r.Step(&sched.Batch{Segments: []sched.Segment{segment(0, []int32{0}, c.tokens...)}, Rows: []sched.Row{row}})
		if c.want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, c.want)
	}
}

func TestEndRateAndSure(t *testing.T) {
	t.Parallel()
	m := Model{EndIDs: []int32{7}, EndRate: 0.25, Sure: 0.9}
	ends, sure := 0, 0
	for i := range 2000 {
		row := answerOf(t, m, []int32{0}, sched.Sampling{}, []int32{int32(i % 1000), int32(i / 1000)})
		ends += map[bool]int{true: 1}[row.Token == 7]
		sure += map[bool]int{true: 1}[row.Entropy < 0.01]
	}
	require.InDelta(t, 500, ends, 80, "4 standard deviations of a binomial of 2000 at 0.25 are 77")
	require.InDelta(t, 1800, sure, 60, "4 standard deviations of a binomial of 2000 at 0.9 are 54")
}

func TestCloseAndFail(t *testing.T) {
	t.Parallel()
	lost := errors.New("device lost")
	r := New(Model{Fail: func(*sched.Batch) error { return lost }})
	b := sched.Batch{Segments: []sched.Segment{segment(0, []int32{0}, 1)}}
	require.ErrorIs(t, r.Step(&b), lost)
	require.NoError(t, r.Close())
	require.True(t, r.Closed())
	require.ErrorContains(t, r.Step(&b), "closed")
	require.ErrorContains(t, r.Close(), "twice")
}
