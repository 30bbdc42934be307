package throughput

// gather is how requests come to wait for an idle large model while the small one steps: law[a] is the law of the number
// that wait when at least b do, starting with a small step while a wait, and time[a] the mean seconds until then.
type gather struct {
	law  [][]float64 // [n+1][n+1]
	time []float64   // [n+1]
}

// newGather computes both for n requests, backwards from a = n. leave[i] is the law of the requests of i that go to the large
// model after a small step, and step(i) the seconds of one. When nobody is left at the small model the large one must start,
// whatever b.
func newGather(n, b int, leave [][]float64, step func(int) float64) gather {
	g := gather{law: make([][]float64, n+1), time: make([]float64, n+1)}
	for a := n; a >= 0; a-- {
		g.law[a] = make([]float64, n+1)
		if a >= b || a == n {
			g.law[a][a] = 1
			continue
		}
		law := leave[n-a]
		g.time[a] = step(n - a)
		for j := 1; j < len(law); j++ {
			g.time[a] += law[j] * g.time[a+j]
			if a+j >= b {
				g.law[a][a+j] += law[j]
				continue
			}
			for k, x := range g.law[a+j] {
				g.law[a][k] += law[j] * x
			}
		}
		some := 1 - law[0]
		g.time[a] /= some
		for k := range g.law[a] {
			g.law[a][k] /= some
		}
	}
	return g
}
