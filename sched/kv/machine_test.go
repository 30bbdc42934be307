package kv

import (
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// machine drives a pool beside the plainest model there is: cells that hold what was written to them, and for every
// sequence the list of its tokens. What is written at a position is a digest of all tokens up to it, as keys and values are.
// Reading a sequence through its page table must give the digests of its tokens.
type machine struct {
	pool  *Pool
	cells []uint64 // [pages*pageTokens]
	seqs  []*Sequence
	wrote map[*Sequence][]int32 // tokens
}

// digest is what stands at the last position of tokens.
func digest(tokens []int32) uint64 {
	h := uint64(14695981039346656037)
	for _, t := range tokens {
		h = (h ^ uint64(t+1)) * 1099511628211
	}
	return h
}

func (m *machine) cell(s *Sequence, position int) *uint64 {
	n := m.pool.pageTokens
	return &m.cells[int(s.pages[position/n])*n+position%n]
}

func (m *machine) pick(t *rapid.T) *Sequence {
	if len(m.seqs) == 0 {
		t.Skip("no sequence")
	}
	return rapid.SampledFrom(m.seqs).Draw(t, "sequence")
}

func TestPoolStateMachine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pages, pageTokens := rapid.IntRange(1, 12).Draw(t, "pages"), rapid.IntRange(1, 5).Draw(t, "page tokens")
		pool, err := NewPool(pages, pageTokens)
		if err != nil {
			t.Fatal(err)
		}
		m := &machine{pool: pool, cells: make([]uint64, pages*pageTokens), wrote: make(map[*Sequence][]int32)}
		t.Repeat(map[string]func(*rapid.T){
			"new": func(t *rapid.T) { m.seqs = append(m.seqs, pool.New()) },
			"extend": func(t *rapid.T) {
				s, n := m.pick(t), rapid.IntRange(1, 9).Draw(t, "tokens")
				free, lacking := pool.FreePages(), pool.Lacking(s, s.Length()+n)
				err := pool.Reserve(s, s.Length()+n)
				if (err != nil) != (lacking > free) || err != nil && !errors.Is(err, ErrNoPages) {
					t.Fatalf("%d pages lacking, %d free: %v", lacking, free, err)
				}
				if err != nil {
					return
				}
				for i := s.Length(); i < s.Length()+n; i++ {
					m.wrote[s] = append(m.wrote[s], rapid.Int32Range(0, 1).Draw(t, "token"))
					*m.cell(s, i) = digest(m.wrote[s])
				}
				if err := pool.Advance(s, n); err != nil {
					t.Fatal(err)
				}
				if rapid.Bool().Draw(t, "publish") {
					pool.Publish(s, m.wrote[s])
				}
			},
			"match": func(t *rapid.T) {
				s := pool.New()
				m.seqs = append(m.seqs, s)
				tokens := rapid.SliceOfN(rapid.Int32Range(0, 1), 0, 12).Draw(t, "tokens")
				if other := m.pick(t); rapid.Bool().Draw(t, "of another") {
					tokens = append(append([]int32(nil), m.wrote[other]...), tokens...)
				}
				n := pool.Match(s, tokens)
				if n%pageTokens != 0 || n != s.Length() || n > len(tokens) {
					t.Fatalf("matched %d of %d tokens", n, len(tokens))
				}
				m.wrote[s] = append([]int32(nil), tokens[:n]...)
			},
			"truncate": func(t *rapid.T) {
				s := m.pick(t)
				want := rapid.IntRange(0, s.Length()).Draw(t, "length")
				left, err := pool.Truncate(s, want)
				if err != nil || left > want || left <= want-pageTokens {
					t.Fatalf("truncate to %d left %d: %v", want, left, err)
				}
				m.wrote[s] = m.wrote[s][:left]
			},
			"fork": func(t *rapid.T) {
				s := m.pick(t)
				n := rapid.IntRange(0, s.Length()).Draw(t, "length")
				c, err := pool.Fork(s, n)
				if err != nil || c.Length() != n-n%pageTokens {
					t.Fatalf("fork of %d has %d: %v", n, c.Length(), err)
				}
				m.seqs = append(m.seqs, c)
				m.wrote[c] = append([]int32(nil), m.wrote[s][:c.Length()]...)
			},
			"clear": func(t *rapid.T) {
				s := m.pick(t)
				pool.Clear(s)
				m.wrote[s] = nil
			},
			"free": func(t *rapid.T) {
				s := m.pick(t)
				pool.Free(s)
				delete(m.wrote, s)
				for i := range m.seqs {
					if m.seqs[i] == s {
						m.seqs = append(m.seqs[:i], m.seqs[i+1:]...)
						break
					}
				}
			},
			"": func(t *rapid.T) {
				if err := pool.Check(); err != nil {
					t.Fatal(err)
				}
				for _, s := range m.seqs {
					if s.Length() != len(m.wrote[s]) {
						t.Fatalf("length %d, wrote %d", s.Length(), len(m.wrote[s]))
					}
					for i := range m.wrote[s] {
						if got, want := *m.cell(s, i), digest(m.wrote[s][:i+1]); got != want {
							t.Fatalf("position %d holds %v, wrote %v", i, got, want)
						}
					}
				}
			},
		})
		for _, s := range m.seqs {
			pool.Free(s)
		}
		if pool.FreePages() != pages {
			t.Fatalf("%d of %d pages free at the end", pool.FreePages(), pages)
		}
	})
}
