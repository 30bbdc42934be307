package sched

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestTombstones(t *testing.T) {
	t.Parallel()
	s := newTombstones(2)
	require.False(t, s.covers("a", 1, false))
	s.add("a", 1)
	require.True(t, s.covers("a", 1, false))
	require.False(t, s.covers("a", 2, false), "the ID is in use again")
	s.add("a", 2)
	s.add("a", 1) // late
	require.True(t, s.covers("a", 2, false))

	s.add("b", 5) // forgets the first of a, not the second
	require.True(t, s.covers("a", 2, true))
	s.add("c", 6) // forgets a for good
	require.True(t, s.covers("a", 2, false), "as old as what is forgotten")
	require.True(t, s.covers("z", 1, false))
	require.False(t, s.covers("z", 1, true), "but live")
	require.False(t, s.covers("z", 7, false), "younger than all that is forgotten")
	require.Len(t, s.generation, 2)
}

// Memory is taken as requests end, not for as many as may be remembered.
func TestTombstonesBegin(t *testing.T) {
	t.Parallel()
	s := newTombstones(1 << 50)
	s.add("a", 1)
	require.True(t, s.covers("a", 1, false))
}

// Whatever is forgotten: what is over stays over, what is live stays live, and the memory stays bounded.
func TestTombstonesProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := newTombstones(rapid.IntRange(1, 5).Draw(t, "capacity"))
		over, live := map[string]uint64{}, map[string]uint64{}
		for g := uint64(1); g < 60; g++ {
			id := fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "id"))
			if _, ok := live[id]; ok {
				over[id] = live[id]
				s.add(id, live[id])
				delete(live, id)
			} else {
				live[id] = g
			}
			for id, g := range live {
				if s.covers(id, g, true) {
					t.Fatalf("%s of generation %d is live", id, g)
				}
			}
			for id, g := range over {
				if !s.covers(id, g, false) {
					t.Fatalf("%s of generation %d is over", id, g)
				}
			}
			if len(s.generation) > cap(s.order) || len(s.order) > cap(s.order) {
				t.Fatalf("%d tombstones of at most %d", len(s.generation), cap(s.order))
			}
		}
	})
}
