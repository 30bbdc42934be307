package kv

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func newPool(t *testing.T, pages, pageTokens int) *Pool {
	t.Helper()
	p, err := NewPool(pages, pageTokens)
	require.NoError(t, err)
	return p
}

func TestNewPoolRefusesNothing(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]int{{0, 32}, {4, 0}, {-1, 32}} {
		_, err := NewPool(c[0], c[1])
		require.ErrorContains(t, err, "at least 1 page of at least 1 token")
	}
}

func TestReserveAdvanceTruncate(t *testing.T) {
	t.Parallel()
	p := newPool(t, 4, 8)
	s := p.New()
	require.Equal(t, 0, p.Lacking(s, 0))
	require.Equal(t, 2, p.Lacking(s, 9))

	require.NoError(t, p.Reserve(s, 9)) // 9 tokens take 2 pages of 8
	require.Equal(t, []int32{0, 1}, s.Pages())
	require.Equal(t, 2, p.FreePages())
	require.Equal(t, 0, s.Length(), "reserved is not written")

	require.NoError(t, p.Advance(s, 9))
	require.NoError(t, p.Advance(s, 7)) // the second page to its end
	require.ErrorContains(t, p.Advance(s, 1), "outside the 16 tokens reserved")
	require.NoError(t, p.Reserve(s, 3), "less than there is")
	require.Len(t, s.Pages(), 2)

	left, err := p.Truncate(s, 8)
	require.NoError(t, err)
	require.Equal(t, 8, left)
	require.Equal(t, []int32{0}, s.Pages())
	require.Equal(t, 3, p.FreePages())
	_, err = p.Truncate(s, 9)
	require.ErrorContains(t, err, "cannot truncate a sequence of 8 tokens to 9")
	require.NoError(t, p.Check())

	p.Free(s)
	require.Equal(t, 4, p.FreePages())
	require.NoError(t, p.Check())
}

func TestReserveIsAllOrNothing(t *testing.T) {
	t.Parallel()
	p := newPool(t, 3, 4)
	a, b := p.New(), p.New()
	require.NoError(t, p.Reserve(a, 8))
	err := p.Reserve(b, 5)
	require.ErrorIs(t, err, ErrNoPages)
	require.ErrorContains(t, err, "2 more are needed for 5 tokens, 1 of 3 are free")
	require.Empty(t, b.Pages())
	require.Equal(t, 1, p.FreePages())
	p.Clear(a)
	require.NoError(t, p.Reserve(b, 5))
	require.NoError(t, p.Check())
}

func TestForkSharesFullPagesOnly(t *testing.T) {
	t.Parallel()
	p := newPool(t, 4, 8)
	s := p.New()
	require.NoError(t, p.Reserve(s, 20))
	require.NoError(t, p.Advance(s, 20))

	c, err := p.Fork(s, 18)
	require.NoError(t, err)
	require.Equal(t, 16, c.Length(), "two full pages of 8; the third is half filled")
	require.Equal(t, s.Pages()[:2], c.Pages())
	require.Equal(t, 1, p.FreePages())
	require.NoError(t, p.Check())

	// A shared page must not be written again: truncating into it gives it up.
	left, err := p.Truncate(c, 11)
	require.NoError(t, err)
	require.Equal(t, 8, left)
	require.Len(t, c.Pages(), 1)

	_, err = p.Fork(s, 21)
	require.ErrorContains(t, err, "cannot fork 21 tokens of a sequence of 20")

	p.Free(s)
	require.Equal(t, 3, p.FreePages(), "page 0 lives on in the child")
	require.NoError(t, p.Check())
	p.Free(c)
	require.Equal(t, 4, p.FreePages())
}

// Every invariant that Check states is broken here by hand, once.
func TestCheckFindsFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(p *Pool, a, b *Sequence)
		want  string
	}{
		"length":      {func(_ *Pool, a, _ *Sequence) { a.length = 99 }, "a sequence of 99 tokens has only 2 pages of 4"},
		"range":       {func(_ *Pool, a, _ *Sequence) { a.pages[0] = 17 }, "page 17 of a table is outside"},
		"twice":       {func(_ *Pool, a, _ *Sequence) { a.pages[1] = a.pages[0] }, "twice in one table"},
		"not full":    {func(p *Pool, a, b *Sequence) { b.pages[0] = a.pages[1]; p.refs[a.pages[1]] = 2 }, "shared but not full"},
		"free, owned": {func(p *Pool, a, _ *Sequence) { p.free = append(p.free, a.pages[0]) }, "is free but has 1 owners"},
		"free twice":  {func(p *Pool, _, _ *Sequence) { p.free = append(p.free, p.free[0]) }, "is free but has -1 owners"},
		"leaked":      {func(p *Pool, _, _ *Sequence) { p.free = p.free[:1] }, "neither free nor owned"},
		"references":  {func(p *Pool, a, _ *Sequence) { p.refs[a.pages[0]] = 2 }, "has 1 owners and 2 references"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPool(t, 5, 4)
			a, b := p.New(), p.New()
			require.NoError(t, p.Reserve(a, 8))
			require.NoError(t, p.Advance(a, 6))
			require.NoError(t, p.Reserve(b, 1))
			require.NoError(t, p.Check())
			c.spoil(p, a, b)
			require.ErrorContains(t, p.Check(), c.want)
		})
	}
}
