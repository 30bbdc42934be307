package router

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// The known answers are those published with the generator (Random123, kat_vectors, philox4x32 10).
func TestPhilox(t *testing.T) {
	t.Parallel()
	const ones = math.MaxUint32
	for _, c := range []struct {
		counter [4]uint32
		key     [2]uint32
		want    [4]uint32
	}{
		{[4]uint32{}, [2]uint32{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[4]uint32{ones, ones, ones, ones}, [2]uint32{ones, ones}, [4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0},
			[4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		require.Equal(t, c.want, philox(c.counter, c.key))
	}
}

func TestUniform(t *testing.T) {
	t.Parallel()
	view := func(seed uint64, choice uint32, position int) float64 {
		return Uniform(View{Seed: seed, Choice: choice, Tokens: make([]int32, position)})
	}
	base := view(1, 2, 3)
	require.Equal(t, base, view(1, 2, 3))
	for _, other := range []float64{view(2, 2, 3), view(1<<32|1, 2, 3), view(1, 3, 3), view(1, 2, 4)} {
		require.NotEqual(t, base, other)
	}
	sum := 0.0
	const n = 20000
	for i := range n {
		u := view(9, 0, i)
		require.True(t, u >= 0 && u < 1)
		sum += u
	}
	require.InDelta(t, 0.5, sum/n, 5*math.Sqrt(1.0/12/n)) // five standard deviations of the mean
}
