package throughput

// cycleWalk enumerates the states of a Cycle for one threshold.
type cycleWalk struct {
	c     *Cycle
	b     int
	index map[[2]int]int
	list  [][2]int // k and r
	rows  []sparse
	time  []float64 // mean seconds to the next start

	gather gather
}

func newCycleWalk(c *Cycle, b int) *cycleWalk {
	small := func(n int) float64 { return c.small[n] }
	return &cycleWalk{c: c, b: b, index: make(map[[2]int]int), gather: newGather(c.n, b, c.law, small)}
}

// first is the law of the first start, when all requests begin at the small model. To be called after explore.
func (w *cycleWalk) first() []float64 {
	pi := make([]float64, len(w.list))
	for k, x := range w.gather.law[0] {
		if x > 0 {
			pi[w.index[[2]int{k, aligned}]] += x
		}
	}
	return pi
}

func (w *cycleWalk) find(k, r int) int {
	key := [2]int{k, r}
	i, ok := w.index[key]
	if !ok {
		i = len(w.list)
		w.index[key] = i
		w.list = append(w.list, key)
		w.rows, w.time = append(w.rows, sparse{}), append(w.time, 0)
	}
	return i
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
const negligible = 1e-12

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
			for j, z := range c.law[under] {
				if a+j >= w.b {
					start[a+j] += mass * z
				} else {
					waiting[a+j] += mass * z
				}
			}
		}
	}
}
