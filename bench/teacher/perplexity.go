package teacher

import (
	"fmt"
	"math"

	"github.com/tokenrouter/tokenrouter/bindings"
)

// Perplexity reads the tokens in windows of windowTokens, each from nothing, and returns exp of the mean negative log-likelihood
// of every token of a window but the first, and how many these were. Windows are long: after the first few tokens of one, little is known
// and anything can follow, in any arithmetic.
func (e *Engine) Perplexity(ids []int32) (perplexity float64, tokens int, err error) {
	var sum float64
	for len(ids) > 1 {
		window := ids[:min(len(ids), windowTokens)]
		ids = ids[len(window):]
		loss, err := e.loss(window)
		if err != nil {
			return 0, 0, err
		}
		sum += loss
		tokens += len(window) - 1
	}
	if tokens == 0 {
		return 0, 0, fmt.Errorf("perplexity needs two tokens or more")
	}
	return math.Exp(sum / float64(tokens)), tokens, nil
}

// loss is the negative log-likelihood, in nats, of all tokens of a window but the first.
func (e *Engine) loss(window []int32) (sum float64, err error) {
	pages := make([]int32, (len(window)+bindings.PageTokens-1)/bindings.PageTokens)
	for i := range pages {
		pages[i] = int32(i)
	}
	batch := e.arena.NewBatch()
	for at := 0; at < len(window)-1; at += maxRows {
		n := min(maxRows, len(window)-1-at)
		batch.Reset()
		batch.AddSegment(window[at:at+n], at, pages)
		for i := range n {
			batch.AddRow(&bindings.Row{Offset: i, Logits: true})
		}
		if err := e.arena.Step(batch); err != nil {
			return 0, fmt.Errorf("tokens %d to %d: %w", at, at+n-1, err)
		}
		for i := range n {
			p := batch.Answer(i)
			sum += float64(p.LogSumExp) - float64(p.Logits[window[at+i+1]])
		}
	}
	return sum, nil
}
