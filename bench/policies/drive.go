package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/tokenrouter/tokenrouter/sched"
)

// load is a number of clients that each make some requests, one after the other.
type load struct {
	target  string
	prompts [][]int32 // one per request: those of client i are i, i+clients, ...
	clients int
	tokens  int    // of each answer
	seed    uint64 // of the first request
	half    func() // called when the first client's last answer is half written, so that nearly all are live
}

// answer is one request as its client saw it.
type answer struct {
	asked   time.Time
	tokens  []time.Time // when each came
	ids     []int32
	summary sched.Summary
}

// run makes all requests and returns the answers in the order of the prompts.
func (l *load) run(ctx context.Context, e *sched.Engine) ([]answer, error) {
	answers := make([]answer, len(l.prompts))
	ends := make(chan error, l.clients)
	for c := range l.clients {
		go func() {
			for i := c; i < len(answers); i += l.clients {
				if err := l.ask(ctx, e, i, &answers[i]); err != nil {
					ends <- fmt.Errorf("request %d: %w", i, err)
					return
				}
			}
			ends <- nil
		}()
	}
	var errs []error
	for range l.clients {
		errs = append(errs, <-ends)
	}
	return answers, errors.Join(errs...)
}

func (l *load) ask(ctx context.Context, e *sched.Engine, i int, a *answer) error {
	a.asked = time.Now()
	s, err := e.Submit(ctx, sched.Request{Target: l.target, Prompt: l.prompts[i], MaxTokens: l.tokens, IgnoreEnd: true,
		Sampling: sched.Sampling{Seed: l.seed + uint64(i)}})
	if err != nil {
		return err
	}
	for {
		event, err := s.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err = errors.Join(err, event.Err); err != nil {
			return err
		}
		now := time.Now()
		for _, t := range event.Tokens {
			a.tokens, a.ids = append(a.tokens, now), append(a.ids, t.ID)
			if l.half != nil && i == len(l.prompts)-l.clients && len(a.ids) == l.tokens/2 {
				l.half()
			}
		}
	}
	a.summary = s.Summary()
	if len(a.ids) != l.tokens {
		return fmt.Errorf("%d tokens came, %d were asked for", len(a.ids), l.tokens)
	}
	return nil
}

// rates are tokens per second over the whole time and over the steady part, and the part of all tokens that this is.
func (l *load) rates(answers []answer) (all, steady, part float64) {
	var begin, end, from, to time.Time
	for i := range answers {
		a := &answers[i]
		last := a.tokens[len(a.tokens)-1]
		if begin.IsZero() || a.asked.Before(begin) {
			begin = a.asked
		}
		if last.After(end) {
			end = last
		}
		if settled := a.tokens[l.tokens/4]; i < l.clients && settled.After(from) {
			from = settled
		}
		if i >= len(answers)-l.clients && (to.IsZero() || last.Before(to)) {
			to = last
		}
	}
	total, inside := 0, 0
	for i := range answers {
		total += len(answers[i].tokens)
		for _, t := range answers[i].tokens {
			if t.After(from) && !t.After(to) {
				inside++
			}
		}
	}
	all = float64(total) / end.Sub(begin).Seconds()
	if to.After(from) {
		steady = float64(inside) / to.Sub(from).Seconds()
	}
	return all, steady, float64(inside) / float64(total)
}

// digest is a hash of all tokens of all answers.
func digest(answers []answer) string {
	var text []byte
	for _, a := range answers {
		for _, id := range a.ids {
			text = binary.LittleEndian.AppendUint32(text, uint32(id))
		}
		text = append(text, 0xff, 0xff, 0xff, 0xff)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// firsts are the times to the first token, in milliseconds, in the order of the prompts.
func firsts(answers []answer) []float64 {
	list := make([]float64, len(answers))
	for i := range answers {
		list[i] = math.Round(10*1000*answers[i].tokens[0].Sub(answers[i].asked).Seconds()) / 10
	}
	return list
}
