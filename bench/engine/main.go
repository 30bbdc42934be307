// Command engine measures bare forward passes of one model: decoding at several batch sizes and prefill. It prints one
// JSON object per figure. No scheduler and no HTTP are involved.
//
//	go run ./bench/engine --model FILE.gguf --threads 2 --batch 1,4,8,16,32
//
// Decoding draws every token greedily, with the signals that always come (entropy, log-sum-exp), and feeds it back.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/tokenrouter/tokenrouter/bindings"
)

// settings of a run.
type settings struct {
	model     string
	threads   int
	batches   []int
	prompt    int // tokens of context before decoding starts
	generated int // decode steps that are timed
	prefill   int // tokens of the prefill measurement, in steps of chunk
	chunk     int
}

// figure is one line of output.
type figure struct {
	Kind            string  `json:"kind"` // "decode" or "prefill"
	Batch           int     `json:"batch"`
	Tokens          int     `json:"tokens"`
	Seconds         float64 `json:"seconds"`
	TokensPerSecond float64 `json:"tokens_per_second"`
}

func main() {
	var s settings
	batches := flag.String("batch", "1,4,8,16,32", "batch sizes of decoding")
	flag.StringVar(&s.model, "model", "", "GGUF file")
	flag.IntVar(&s.threads, "threads", 2, "threads of a step")
	flag.IntVar(&s.prompt, "prompt", 128, "tokens of context before decoding starts")
	flag.IntVar(&s.generated, "generated", 32, "decode steps")
	flag.IntVar(&s.prefill, "prefill", 512, "tokens of the prefill measurement; 0: none")
	flag.IntVar(&s.chunk, "chunk", 512, "tokens of a prefill step")
	flag.Parse()
	err := s.parseBatches(*batches)
	if err == nil {
		err = run(s, json.NewEncoder(os.Stdout))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "engine:", err)
		os.Exit(1)
	}
}

func (s *settings) parseBatches(text string) error {
	if s.model == "" || s.prompt < 1 || s.generated < 1 || s.chunk < 1 {
		return errors.New("--model is needed; --prompt, --generated and --chunk are at least 1")
	}
	for field := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(field)
		if err != nil || n < 1 {
			return fmt.Errorf("--batch: expected numbers of 1 or more, found %q", field)
		}
		s.batches = append(s.batches, n)
	}
	return nil
}

func run(s settings, out *json.Encoder) (err error) {
	library, err := bindings.Load("")
	if err != nil {
		return err
	}
	device, err := library.OpenDevice(bindings.DeviceOptions{Threads: s.threads})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, device.Close()) }()
	model, err := device.LoadModel(s.model, bindings.ModelOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, model.Close()) }()
	for _, n := range s.batches {
		f, err := decode(s, model, n)
		if err != nil {
			return fmt.Errorf("decode at batch %d: %w", n, err)
		}
		if err := out.Encode(f); err != nil {
			return err
		}
	}
	if s.prefill == 0 {
		return nil
	}
	f, err := prefill(s, model)
	if err != nil {
		return fmt.Errorf("prefill: %w", err)
	}
	return out.Encode(f)
}

// sequences are the tokens and pages of the requests of one measurement.
type sequences struct {
	arena *bindings.Arena
	batch *bindings.Batch
	pages [][]int32
	last  [][]int32 // the token to append next, one per sequence
	at    int       // tokens in the KV cache, of each
}

func newSequences(model *bindings.Model, n, tokens, maxTokens int) (*sequences, error) {
	each := (tokens + bindings.PageTokens - 1) / bindings.PageTokens
	arena, err := model.NewArena(bindings.ArenaOptions{Pages: n * each, MaxTokens: max(maxTokens, n), MaxRows: n})
	if err != nil {
		return nil, err
	}
	q := &sequences{arena: arena, batch: arena.NewBatch()}
	for i := range n {
		table := make([]int32, each)
		for j := range table {
			table[j] = int32(i*each + j)
		}
		q.pages = append(q.pages, table)
		q.last = append(q.last, []int32{0})
	}
	return q, nil
}

// fill extends every sequence by n made-up tokens, in steps of at most chunk.
func (q *sequences) fill(n, chunk, vocab int) error {
	for i := range q.pages {
		for at := 0; at < n; at += chunk {
			ids := make([]int32, min(chunk, n-at))
			for j := range ids {
				ids[j] = int32((1000 + 7919*(at+j) + 104729*i) % vocab)
			}
			q.batch.Reset()
			q.batch.AddSegment(ids, at, q.pages[i])
			if at+chunk >= n {
				q.batch.AddRow(&bindings.Row{Offset: len(ids) - 1, Sampling: &bindings.Sampling{}})
			}
			if err := q.arena.Step(q.batch); err != nil {
				return err
			}
		}
		q.last[i][0] = q.batch.Answer(0).Token
	}
	q.at = n
	return nil
}

// step decodes one token of every sequence.
func (q *sequences) step() error {
	q.batch.Reset()
	for i := range q.pages {
		q.batch.AddSegment(q.last[i], q.at, q.pages[i])
		q.batch.AddRow(&bindings.Row{Segment: i, Sampling: &bindings.Sampling{}})
	}
	if err := q.arena.Step(q.batch); err != nil {
		return err
	}
	for i := range q.last {
		q.last[i][0] = q.batch.Answer(i).Token
	}
	q.at++
	return nil
}

func decode(s settings, model *bindings.Model, n int) (f figure, err error) {
	const warm = 2
	q, err := newSequences(model, n, s.prompt+warm+s.generated, s.chunk)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, q.arena.Close()) }()
	if err := q.fill(s.prompt, s.chunk, model.Info().Vocab); err != nil {
		return f, err
	}
	for range warm {
		if err := q.step(); err != nil {
			return f, err
		}
	}
	start := time.Now()
	for range s.generated {
		if err := q.step(); err != nil {
			return f, err
		}
	}
	return newFigure("decode", n, n*s.generated, time.Since(start)), nil
}

func prefill(s settings, model *bindings.Model) (f figure, err error) {
	q, err := newSequences(model, 1, s.prefill, s.chunk)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, q.arena.Close()) }()
	var took time.Duration
	for range 2 { // the first warms up
		start := time.Now()
		if err := q.fill(s.prefill, s.chunk, model.Info().Vocab); err != nil {
			return f, err
		}
		took = time.Since(start)
	}
	return newFigure("prefill", 1, s.prefill, took), nil
}

func newFigure(kind string, batch, tokens int, took time.Duration) figure {
	return figure{kind, batch, tokens, took.Seconds(), float64(tokens) / took.Seconds()}
}
