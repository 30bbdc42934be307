package kv

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func count(from, to int32) (tokens []int32) {
	for t := from; t < to; t++ {
		tokens = append(tokens, t)
	}
	return tokens
}

// write extends a sequence to these tokens and publishes it.
func write(t *testing.T, p *Pool, s *Sequence, tokens []int32) {
	t.Helper()
	require.NoError(t, p.Reserve(s, len(tokens)))
	require.NoError(t, p.Advance(s, len(tokens)-s.Length()))
	p.Publish(s, tokens)
}

func TestMatch(t *testing.T) {
	t.Parallel()
	p := newPool(t, 6, 4)
	a := p.New()
	write(t, p, a, count(0, 11)) // two full pages and a part of one
	require.Equal(t, 3, p.FreePages())

	b := p.New()
	require.Equal(t, 8, p.Match(b, count(0, 20)))
	require.Equal(t, a.Pages()[:2], b.Pages(), "shared while it is in use")
	require.Equal(t, 4, p.Match(p.New(), append(count(0, 7), 99)), "only what is the same from the beginning")
	require.Zero(t, p.Match(p.New(), count(4, 12)), "the same tokens elsewhere are something else")
	require.Zero(t, p.Match(p.New(), count(0, 3)), "no part of a page")
	require.NoError(t, p.Check())

	p.Free(a)
	p.Free(b)
	require.Equal(t, 1, p.CachedPages(), "the first page is still owned by a third")
	for s := range p.sequences {
		p.Free(s)
	}
	require.Equal(t, 6, p.FreePages())
	require.Equal(t, 2, p.CachedPages())
	c := p.New()
	require.Equal(t, 8, p.Match(c, count(0, 9)), "and after everybody has gone")
	require.NoError(t, p.Check())
}

// Memory that is needed is taken from what was given up longest ago, and there from the end.
func TestLeastRecentlyUsedGoesFirst(t *testing.T) {
	t.Parallel()
	p := newPool(t, 4, 4)
	old, young := p.New(), p.New()
	write(t, p, old, count(0, 8))
	write(t, p, young, count(100, 108))
	p.Free(old)
	p.Free(young)
	require.Equal(t, 4, p.CachedPages())

	s := p.New()
	require.NoError(t, p.Reserve(s, 4))
	require.NoError(t, p.Check())
	probe := p.New()
	require.Equal(t, 4, p.Match(probe, count(0, 8)), "the second page of the older one went")
	p.Free(probe)
	probe = p.New()
	require.Equal(t, 8, p.Match(probe, count(100, 108)))
	require.NoError(t, p.Check())
	require.ErrorIs(t, p.Reserve(s, 16), ErrNoPages)
	require.NoError(t, p.Reserve(s, 8))
	require.Zero(t, p.CachedPages())
}

// A page that is written again is not what it was.
func TestTruncatedPagesAreForgotten(t *testing.T) {
	t.Parallel()
	p := newPool(t, 4, 4)
	s := p.New()
	write(t, p, s, count(0, 8))
	_, err := p.Truncate(s, 7)
	require.NoError(t, err)
	require.Equal(t, 4, p.Match(p.New(), count(0, 8)))
	require.NoError(t, p.Check())
	write(t, p, s, append(count(0, 7), 99))
	require.Equal(t, 8, p.Match(p.New(), append(count(0, 7), 99)))
	require.Equal(t, 4, p.Match(p.New(), count(0, 8)))
	require.NoError(t, p.Check())
}
