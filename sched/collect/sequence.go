package collect

import (
	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
)

const chunk = 64 // most tokens, and rows, of a step

// sequence runs one model over one sequence at a time. What two calls have in common at the start is computed once.
type sequence struct {
	runner *sched.NativeRunner
	vocab  int
	room   int // most tokens
	pages  []int32
	cached []int32
}

func newSequence(model *sched.NativeModel, vocab, room int) (*sequence, error) {
	n := (room + sched.NativePageTokens - 1) / sched.NativePageTokens
	runner, err := model.NewRunner(sched.NativeLimits{Pages: n, MaxTokens: chunk, MaxRows: chunk})
	if err != nil {
		return nil, err
	}
	s := &sequence{runner: runner, vocab: vocab, room: room, pages: make([]int32, n)}
	for i := range s.pages {
		s.pages[i] = int32(i)
	}
	return s, nil
}

// rows brings the KV cache to the end of ids, and calls use for each position from `first` on; the row's slices are valid
// in the call only.
func (s *sequence) rows(ids []int32, first int, needs router.Needs, use func(row router.Row)) error {
	at := 0
	for at < min(len(s.cached), len(ids), first) && s.cached[at] == ids[at] {
		at++
	}
	s.cached = s.cached[:at]
	for at < len(ids) {
		n := min(chunk, len(ids)-at)
		b := sched.Batch{Segments: []sched.Segment{{Tokens: ids[at : at+n], Position: at, Pages: s.pages}}}
		for i := max(first-at, 0); i < n; i++ {
			b.Rows = append(b.Rows, sched.Row{Offset: i, Needs: needs, Vocab: s.vocab, Sampling: &sched.Sampling{}})
		}
		if err := s.runner.Step(&b); err != nil {
			return err
		}
		s.cached = append(s.cached, ids[at:at+n]...)
		at += n
		for i := range b.Rows {
			use(b.Rows[i].Out)
		}
	}
	return nil
}
