package measure

import (
	"fmt"

	"github.com/tokenrouter/tokenrouter/sched"
)

// sequences are the requests of one measurement: their tokens, pages and KV cache.
type sequences struct {
	runner *sched.NativeRunner
	vocab  int
	head   *sched.NativeHead // that scores the rows, or nil
	batch  sched.Batch
	pages  [][]int32
	tokens [][]int32 // [sequence] what a step appends: made up but for the first, which was drawn
	shared int       // leading tokens whose pages are the first sequence's, in whole pages
	copied bool      // the others' first tokens are the first sequence's, in copies of its pages
	at     int       // tokens in the KV cache, of each
}

// newSequences makes n sequences of up to `tokens` tokens, which steps of up to perStep tokens extend. The first `shared` tokens,
// whole pages, are the same for all and there once.
func newSequences(model *sched.NativeModel, n, tokens, perStep, shared int) (*sequences, error) {
	if limit := model.Info().ContextTrain; tokens > limit {
		return nil, fmt.Errorf("%d tokens of context are needed, and the model's context is %d: ask for less", tokens, limit)
	}
	each := (tokens + 1 + sched.NativePageTokens - 1) / sched.NativePageTokens
	common := shared / sched.NativePageTokens
	own := each - common
	runner, err := model.NewRunner(sched.NativeLimits{Pages: common + n*own, MaxTokens: perStep, MaxRows: n})
	if err != nil {
		return nil, err
	}
	s := &sequences{runner: runner, vocab: model.Info().Vocab, shared: shared}
	for i := range n {
		table := make([]int32, each)
		for j := range table {
			table[j] = int32(j)
			if j >= common {
				table[j] += int32(i * own)
			}
		}
		s.pages = append(s.pages, table)
		s.tokens = append(s.tokens, s.madeUp(i, 0, perStep))
	}
	return s, nil
}

// madeUp are n ids for positions of a sequence: any will do, but not all the same.
func (s *sequences) madeUp(sequence, position, n int) []int32 {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32((1000 + 7919*(position+i) + 104729*sequence) % s.vocab)
	}
	return ids
}

// fill gives every sequence its first n tokens, in steps of at most chunk of one sequence; the last step draws the next. Where
// all n are shared or copied, the first sequence has read them for all.
func (s *sequences) fill(n, chunk int) error {
	for i := range s.pages {
		start := 0
		if i > 0 && s.copied {
			if err := s.copy(i, n); err != nil {
				return err
			}
			start = n
		} else if i > 0 {
			start = min(s.shared, n)
		}
		for at := start; at < n; at += chunk {
			ids := s.madeUp(i, at, min(chunk, n-at))
			s.batch.Segments = append(s.batch.Segments[:0], sched.Segment{Tokens: ids, Position: at, Pages: s.pages[i]})
			s.batch.Rows = s.batch.Rows[:0]
			if at+chunk >= n {
				s.batch.Rows = append(s.batch.Rows, s.row(0, len(ids)-1))
			}
			if err := s.runner.Step(&s.batch); err != nil {
				return err
			}
		}
		switch {
		case n > start:
			s.tokens[i][0] = s.batch.Rows[0].Out.Token
		case n > 0:
			s.tokens[i][0] = s.tokens[0][0]
		}
	}
	s.at = n
	return nil
}

// copy gives a sequence the first n tokens of the first one, in its own pages.
func (s *sequences) copy(sequence, n int) error {
	for j := range (n + sched.NativePageTokens - 1) / sched.NativePageTokens {
		if from, to := s.pages[0][j], s.pages[sequence][j]; from != to {
			if err := s.runner.CopyPage(from, to); err != nil {
				return err
			}
		}
	}
	return nil
}

// extend appends n tokens to every sequence and draws the next. Unless it is kept, the next extend starts at the same place.
func (s *sequences) extend(n int, keep bool) error {
	s.batch.Segments, s.batch.Rows = s.batch.Segments[:0], s.batch.Rows[:0]
	for i := range s.pages {
		s.batch.Segments = append(s.batch.Segments, sched.Segment{Tokens: s.tokens[i][:n], Position: s.at, Pages: s.pages[i]})
		s.batch.Rows = append(s.batch.Rows, s.row(i, n-1))
	}
	if err := s.runner.Step(&s.batch); err != nil {
		return err
	}
	if !keep {
		return nil
	}
	for i := range s.tokens {
		s.tokens[i][0] = s.batch.Rows[i].Out.Token
	}
	s.at += n
	return nil
}

// graphs are the steps so far with a graph and without, on a device that has graphs.
func (s *sequences) graphs() sched.GraphCounts {
	if g := s.runner.Graphs(); g != nil {
		return *g
	}
	return sched.GraphCounts{}
}

func (s *sequences) row(segment, offset int) sched.Row {
	row := sched.Row{Segment: segment, Offset: offset, Vocab: s.vocab, Sampling: &sched.Sampling{}}
	if s.head != nil {
		row.Head, row.Needs.Top = s.head, s.head.Top()
	}
	return row
}
