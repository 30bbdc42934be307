package throughput

import "math"

// binomial returns the probabilities of 0..n successes in n trials of probability q each.
func binomial(n int, q float64) []float64 {
	law := make([]float64, n+1)
	switch {
	case q <= 0:
		law[0] = 1
		return law
	case q >= 1:
		law[n] = 1
		return law
	}
	// From the mode outwards, so that nothing underflows before it is negligible.
	mode := min(n, int(float64(n+1)*q))
	law[mode] = 1
	odds := q / (1 - q)
	for k := mode + 1; k <= n; k++ {
		law[k] = law[k-1] * odds * float64(n-k+1) / float64(k)
	}
	for k := mode - 1; k >= 0; k-- {
		law[k] = law[k+1] / odds * float64(k+1) / float64(n-k)
	}
	sum := 0.0
	for _, x := range law {
		sum += x
	}
	for k := range law {
		law[k] /= sum
	}
	return law
}

// span is the part of a law outside of which everything is negligible.
func span(law []float64) [2]int {
	from, to := 0, len(law)
	for from < to-1 && law[from] < negligible {
		from++
	}
	for to > from+1 && law[to-1] < negligible {
		to--
	}
	return [2]int{from, to}
}

// convolve returns the law of the sum of two independent counts.
func convolve(a, b []float64) []float64 {
	law := make([]float64, len(a)+len(b)-1)
	for i, x := range a {
		if x == 0 {
			continue
		}
		for j, y := range b {
			law[i+j] += x * y
		}
	}
	return law
}

// reached is the probability of at least one success in j trials.
func reached(p float64, j int) float64 { return 1 - math.Pow(1-p, float64(j)) }
