package throughput

// cycleWalk enumerates the states of a Cycle for one threshold.
type cycleWalk struct {
	c     *Cycle
	b     int
	index []int32  // [n+1][n+2] place in list, and 1, by k and r+1; 0: not there. A map takes half of the time
	list  [][2]int // k and r
	rows  []sparse
	time  []float64 // mean seconds to the next start

	gather gather
}

func newCycleWalk(c *Cycle, b int) *cycleWalk {
	small := func(n int) float64 { return c.small[n] }
	return &cycleWalk{c: c, b: b, index: make([]int32, (c.n+1)*(c.n+2)), gather: newGather(c.n, b, c.law, small)}
}

// first is the law of the first start, when all requests begin at the small model. To be called after explore.
func (w *cycleWalk) first() []float64 {
	pi := make([]float64, len(w.list))
	for k, x := range w.gather.law[0] {
		if x > 0 {
			pi[w.find(k, aligned)] += x
		}
	}
	return pi
}

func (w *cycleWalk) find(k, r int) int {
	at := &w.index[k*(w.c.n+2)+r+1]
	if *at == 0 {
		w.list = append(w.list, [2]int{k, r})
		w.rows, w.time = append(w.rows, sparse{}), append(w.time, 0)
		*at = int32(len(w.list))
	}
	return int(*at) - 1
}

// explore finds all states that can be reached and where they go.
func (w *cycleWalk) explore() {
	for k, x := range w.gather.law[0] {
		if x > 0 {
			w.find(k, aligned)
		}
	}
	start := make([]float64, w.c.n+1)   // [k] mass of aligned starts
	waiting := make([]float64, w.c.n+1) // [a] mass of small steps that start while a wait
	for i := 0; i < len(w.list); i++ {
		clear(start)
		clear(waiting)
		w.step(i, start, waiting)
		for a := range w.b {
			x := waiting[a]
			if x == 0 {
				continue
			}
			w.time[i] += x * w.gather.time[a]
			for k, y := range w.gather.law[a] {
				start[k] += x * y
			}
		}
		for k, x := range start {
			if x > negligible {
				w.rows[i].add(w.find(k, aligned), x)
			}
		}
	}
}

// negligible transitions are left out; what is left is scaled to one by the iteration.
const negligible = 1e-8

// step follows one step of the large model from state i up to the next start, or to a small step that starts while too few
// wait.
func (w *cycleWalk) step(i int, start, waiting []float64) {
	c, k := w.c, w.list[i][0]
	f := c.flight(k, w.list[i][1])
	w.time[i] = c.large[k]
	for stay, x := range c.returns[k] {
		if x < negligible {
			continue
		}
		for arrived, y := range f.arrivals {
			mass := x * y
			if mass < negligible {
				continue
			}
			a := arrived + stay
			if a >= w.b {
				j := w.find(a, k-stay)
				w.rows[i].add(j, mass)
				continue
			}
			under := c.n - k - arrived
			if under == 0 {
				waiting[a] += mass
				continue
			}
			w.time[i] += mass * f.wait
			law, from, to := c.law[under], c.spans[under][0], c.spans[under][1]
			enough := max(from, min(to, w.b-a))
			for j := from; j < enough; j++ {
				waiting[a+j] += mass * law[j]
			}
			for j := enough; j < to; j++ {
				start[a+j] += mass * law[j]
			}
		}
	}
}
