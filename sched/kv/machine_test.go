package kv

import (
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// machine drives a pool beside the plainest model there is: cells that hold what was written to them, and for every
// sequence the list of what it wrote. Reading a sequence through its page table must give that list.
type machine struct {
	pool  *Pool
	cells [][2]int32 // [pages*pageTokens] (writer's mark, position)
	seqs  []*Sequence
	wrote map[*Sequence][][2]int32
	marks int32
}

func (m *machine) cell(s *Sequence, position int) *[2]int32 {
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
		m := &machine{pool: pool, cells: make([][2]int32, pages*pageTokens), wrote: make(map[*Sequence][][2]int32)}
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
				m.marks++
				for i := s.Length(); i < s.Length()+n; i++ {
					mark := [2]int32{m.marks, int32(i)}
					*m.cell(s, i) = mark
					m.wrote[s] = append(m.wrote[s], mark)
				}
				if err := pool.Advance(s, n); err != nil {
					t.Fatal(err)
				}
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
				m.wrote[c] = append([][2]int32(nil), m.wrote[s][:c.Length()]...)
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
					for i, want := range m.wrote[s] {
						if got := *m.cell(s, i); got != want {
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
