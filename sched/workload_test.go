package sched_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
)

// shape is what one run of random requests is like.
type shape struct {
	seed        uint64
	requests    int
	concurrency int
	targets     []string
	prompt      int           // longest
	tokens      int           // most new
	cancels     float64       // share of requests that are cancelled at a random moment
	patience    time.Duration // longest time before a cancel
	grammars    float64       // share of requests with a grammar
}

var answering = []string{"small", "large", "middle", "stitch", "half", "backward", "visit", "mix", "cascade", "ensemble", "query", "nats", "dice",
	"citer", "r2r", "co-llm", "query-head", "drafts", "drafts-of-1", "guess", "doubt"}

// random draws a request of every kind that a client may send.
func (s *shape) random(rng *rand.Rand, i int) sched.Request {
	r := sched.Request{
		ID:        fmt.Sprintf("r%d", i),
		Target:    s.targets[rng.IntN(len(s.targets))],
		MaxTokens: 1 + rng.IntN(s.tokens),
		Trace:     rng.IntN(2) == 0,
		Special:   rng.IntN(4) == 0,
		IgnoreEnd: rng.IntN(4) == 0,
	}
	for range 1 + rng.IntN(s.prompt) {
		r.Prompt = append(r.Prompt, int32(rng.IntN(500)))
	}
	if rng.IntN(2) == 0 {
		r.Sampling = sched.Sampling{Temperature: 0.8, TopK: 40, TopP: 0.95, Seed: rng.Uint64(), Choice: uint32(rng.IntN(3))}
	}
	if rng.IntN(4) == 0 {
		r.Sampling.RepetitionPenalty, r.Sampling.FrequencyPenalty = 1.1, 0.5
	}
	if rng.IntN(4) == 0 {
		r.Sampling.BiasIDs, r.Sampling.Bias = []int32{7, 9}, []float32{1, -1}
	}
	if rng.IntN(3) == 0 {
		r.LogProbs, r.Top = true, rng.IntN(6)
	}
	if rng.IntN(3) == 0 {
		r.Stop = [][]string{{"abcab"}, {"aa", "\n\n", "éé"}, {"bc a"}, {"zzz", "c\n"}}[rng.IntN(4)]
	}
	if r.Target == "stitch" && rng.IntN(2) == 0 {
		r.Params = router.Params{Threshold: ptr([]float64{0, 0.01, 0.1, 0.3, 1}[rng.IntN(5)])}
	}
	if r.Target == "drafts" && rng.IntN(2) == 0 {
		r.Params = router.Params{Draft: ptr(1 + rng.IntN(router.SpeculativeMost))}
	}
	if r.Target == "visit" && rng.IntN(4) == 0 {
		r.Algorithm = "r-stitch"
	}
	if s.grammars > 0 && rng.Float64() < s.grammars {
		r.Grammar, r.IgnoreEnd = fmt.Sprintf("hash %d", rng.IntN(1000)), false
	}
	return r
}

// job is one request of a run and its answer.
type job struct {
	request sched.Request
	cancel  time.Duration // 0: never
	answer  answer
	err     error
}

// run sends random requests, some of which are cancelled, and compares every answer with the oracle's: those that were
// cancelled as far as they go. It returns how many were.
func (l *lab) run(s shape) (cancelled int, err error) {
	rng := rand.New(rand.NewPCG(s.seed, 1))
	jobs := make([]job, s.requests)
	for i := range jobs {
		jobs[i].request = s.random(rng, i)
		if rng.Float64() < s.cancels {
			jobs[i].cancel = 1 + time.Duration(rng.Int64N(int64(s.patience)))
		}
	}
	return l.drive(jobs, s.concurrency)
}

// drive sends the requests, so many at a time, and compares their answers.
func (l *lab) drive(jobs []job, concurrency int) (cancelled int, err error) {
	next := make(chan *job, len(jobs))
	for i := range jobs {
		next <- &jobs[i]
	}
	close(next)
	var wg sync.WaitGroup
	for range concurrency {
		wg.Go(func() {
			for j := range next {
				j.answer, j.err = l.do(j)
			}
		})
	}
	wg.Wait()
	for i := range jobs {
		if err := l.check(&jobs[i]); err != nil {
			return cancelled, fmt.Errorf("%+v: %w", jobs[i].request, err)
		}
		cancelled += b2i(jobs[i].answer.Finish == sched.FinishCancelled)
	}
	return cancelled, nil
}

// check compares an answer with the oracle's.
func (l *lab) check(j *job) error {
	if j.err != nil {
		return j.err
	}
	if j.answer.err != nil {
		return j.answer.err
	}
	want, err := l.judge(j.request)
	if err != nil {
		return err
	}
	got := j.answer.Answer
	if got.Finish != sched.FinishCancelled {
		if !reflect.DeepEqual(want, got) {
			return fmt.Errorf("want %+v\ngot %+v", want, got)
		}
		return nil
	}
	if j.cancel == 0 {
		return errors.New("cancelled by nobody")
	}
	if n := len(got.Tokens); n > len(want.Tokens) || !slices.Equal(want.Tokens[:n], got.Tokens) {
		return fmt.Errorf("want the beginning of %v, got %v", want.Tokens, got.Tokens)
	}
	return nil
}

func (l *lab) do(j *job) (answer, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stream, err := l.engine.Submit(ctx, j.request)
	if err != nil {
		return answer{}, err
	}
	if j.cancel > 0 {
		defer time.AfterFunc(j.cancel, cancel).Stop()
	}
	return collect(stream)
}
