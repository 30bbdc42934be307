package sched

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func testOwner() *owner {
	spec := &Spec{Models: []string{"a", "b", "c"}, Prompt: 2, MaxLength: 100, Vocab: 10, End: []int32{1}}
	return &owner{spec: spec, stream: newStream(spec), position: 2}
}

func committed(start, model int, tokens ...int32) commit {
	c := commit{start: start, tokens: tokens}
	for range tokens {
		c.infos = append(c.infos, TokenInfo{Model: model})
	}
	return c
}

// Messages of different peers may overtake one another: tokens reach the stream in the order of their positions.
func TestOwnerPutsCommitsInOrder(t *testing.T) {
	t.Parallel()
	o := testOwner()
	for _, c := range []commit{committed(5, 2, 8, 9), committed(4, 1, 7), committed(2, 0, 5, 6)} {
		over, err := o.commit(c)
		require.NoError(t, err)
		require.False(t, over)
	}
	var got []int32
	for _, e := range o.stream.events {
		for _, token := range e.Tokens {
			got = append(got, token.ID)
		}
	}
	require.Equal(t, []int32{5, 6, 7, 8, 9}, got)
	require.Equal(t, 7, o.position)
	require.Empty(t, o.early)
}

func TestOwnerRefusesAPositionTwice(t *testing.T) {
	t.Parallel()
	o := testOwner()
	_, err := o.commit(committed(2, 0, 5, 6))
	require.NoError(t, err)
	_, err = o.commit(committed(3, 1, 7))
	require.EqualError(t, err, "position 3 was committed twice")
}

// An end-of-sequence token ends the answer; it counts, but tokens after it do not.
func TestOwnerEndsAtTheEnd(t *testing.T) {
	t.Parallel()
	o := testOwner()
	over, err := o.commit(committed(2, 0, 5, 1, 6))
	require.NoError(t, err)
	require.True(t, over)
	require.Equal(t, FinishStop, o.last.Finish)
	require.True(t, o.last.Tokens[0].End)
	require.Equal(t, 2, o.stream.Summary().Completion)
}
