package throughput

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Latency is how long a step takes. Implementations are immutable.
type Latency interface {
	// Step returns the seconds that a step of n requests takes which appends `rows` tokens in all. Both may be means, so
	// they need not be whole; n >= 1, rows >= n.
	Step(n, rows float64) float64
}

// Affine is Base + PerRequest*n + PerRow*rows.
type Affine struct {
	Base, PerRequest, PerRow float64
}

// Step implements [Latency].
func (a Affine) Step(n, rows float64) float64 { return a.Base + a.PerRequest*n + a.PerRow*rows }

// Constant is the latency of steps that all take as long.
func Constant(seconds float64) Latency { return Affine{Base: seconds} }

// Table is a latency that was measured at some numbers of rows: linear between them, constant below the first, and
// beyond the last as steep as between the last two.
type Table struct {
	rows, seconds []float64
}

// NewTable makes a table of seconds by rows. The error says which entry makes no sense.
func NewTable(byRows map[float64]float64) (*Table, error) {
	if len(byRows) == 0 {
		return nil, errors.New("a table of latencies has no entries")
	}
	t := &Table{}
	for rows := range byRows {
		t.rows = append(t.rows, rows)
	}
	slices.Sort(t.rows)
	for _, rows := range t.rows {
		s := byRows[rows]
		if !(rows >= 1) || !(s > 0) || math.IsInf(rows, 0) || math.IsInf(s, 0) {
			return nil, fmt.Errorf("a table of latencies says %g s at %g rows: want a positive time at 1 row or more", s, rows)
		}
		t.seconds = append(t.seconds, s)
	}
	return t, nil
}

// Step implements [Latency].
func (t *Table) Step(_, rows float64) float64 {
	last := len(t.rows) - 1
	if rows <= t.rows[0] || last == 0 {
		return t.seconds[0]
	}
	i := 1
	for i < last && t.rows[i] < rows {
		i++
	}
	slope := (t.seconds[i] - t.seconds[i-1]) / (t.rows[i] - t.rows[i-1])
	return max(t.seconds[i]+slope*(rows-t.rows[i]), t.seconds[0]/2)
}
