package throughput

// Waits returns for each model how long a request should wait for a threshold at most, when `rate` tokens per second are
// written with thresholds b: long enough that waiting ends by the threshold nearly always. That is the time that b requests
// take to gather four times over, and two steps of the model.
func (s *System) Waits(b []int, rate float64) []float64 {
	visits, tokens, rows := s.visits(), s.tokens(), s.rows()
	perVisit := 0.0 // tokens
	for i, v := range visits {
		perVisit += v * tokens[i]
	}
	waits := make([]float64, len(b))
	for i := range b {
		n := float64(b[i])
		waits[i] = 2 * s.Latencies[i].Step(n, n*rows[i])
		if arrivals := rate * visits[i] / perVisit; arrivals > 0 {
			waits[i] += 4 * n / arrivals
		}
	}
	return waits
}
