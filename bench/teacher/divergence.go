package teacher

import (
	"math"
	"slices"

	"github.com/tokenrouter/tokenrouter/bindings"
)

// Divergence is the Kullback-Leibler divergence of the integer path from the exact one, KL(exact || integer), in nats.
type Divergence struct {
	Steps int     `json:"steps"`
	Mean  float64 `json:"mean_kl"`
	Max   float64 `json:"max_kl"`
	Agree int     `json:"same_top_1"`
}

// Diverge reads all answers with both engines, which hold the same model. Memory: the logits of one answer at a time.
func Diverge(exact, integer *Engine, answers []Answer) (Divergence, error) {
	var r Divergence
	var sum float64
	for _, answer := range answers {
		logits := make([][]float32, len(answer.Steps))
		err := exact.Read(answer, func(i int, p bindings.Answer) { logits[i] = slices.Clone(p.Logits) })
		if err != nil {
			return r, err
		}
		err = integer.Read(answer, func(i int, p bindings.Answer) {
			kl := KL(logits[i], p.Logits)
			r.Steps++
			sum += kl
			r.Max = max(r.Max, kl)
			if argmax(logits[i]) == argmax(p.Logits) {
				r.Agree++
			}
		})
		if err != nil {
			return r, err
		}
	}
	r.Mean = sum / float64(r.Steps)
	return r, nil
}

// KL is the divergence of softmax(q) from softmax(p) in nats: the sum of p*(log p - log q).
func KL(p, q []float32) float64 {
	lp, lq := logSumExp(p), logSumExp(q)
	var kl float64
	for i := range p {
		a, b := float64(p[i])-lp, float64(q[i])-lq
		kl += math.Exp(a) * (a - b)
	}
	return kl
}

func logSumExp(x []float32) float64 {
	top := float64(slices.Max(x))
	var sum float64
	for _, v := range x {
		sum += math.Exp(float64(v) - top)
	}
	return top + math.Log(sum)
}

func argmax(x []float32) int {
	best := 0
	for i, v := range x {
		if v > x[best] {
			best = i
		}
	}
	return best
}
