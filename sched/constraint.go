package sched

import (
	"errors"
	"fmt"
	"math/bits"
)

// Grammars turns the grammar of a request, as text, into what may come first. Safe for concurrent use. It is asked by every model
// that a request comes to, so it should remember what it was asked for.
type Grammars interface {
	Constraint(grammar string) (Constraint, error)
}

// Constraint says which tokens may come next in an answer. It depends on the tokens so far alone, so it is the same at every model
// that writes the answer. Immutable; safe for concurrent use.
type Constraint interface {
	// Mask returns the ids that may come next: bit i%32 of word i/32 is that of id i, ids beyond the last word may not. Where it is
	// only one, only is this id, otherwise -1. Nobody changes the mask. It is nil where it could not be found out in reasonable time.
	Mask() (mask []uint32, only int32)
	// Next is what may come after a token. One that may not come next is an error.
	Next(id int32) (Constraint, error)
}

// constrained is a request's place in its grammar at one model: after the committed tokens. The decode loop moves it on, while the
// request is running.
type constrained struct {
	at    Constraint // nil: any token may come
	known int        // tokens of the sequence that it has been told of
	err   error      // a token was not in the grammar
}

// begin puts a request at the beginning of its grammar.
func (c *constrained) begin(t *target, spec *Spec) {
	if spec.Grammar == "" {
		return
	}
	c.known = spec.Prompt
	if c.at, c.err = t.constraint(spec.Grammar); c.err != nil {
		c.err = fmt.Errorf("grammar of the request: %w", c.err)
	}
}

// constraint is where a grammar begins.
func (t *target) constraint(grammar string) (Constraint, error) {
	if t.grammars == nil {
		return nil, errors.New("grammars need a tokenizer")
	}
	return t.grammars.Constraint(grammar)
}

// advance moves on to the end of the committed tokens.
func (c *constrained) advance(tokens []int32) {
	for ; c.err == nil && c.known < len(tokens); c.known++ {
		next, err := c.at.Next(tokens[c.known])
		if err != nil {
			c.err = fmt.Errorf("position %d is not in the grammar of the request: %w", c.known, err)
			return
		}
		c.at = next
	}
}

// constrain gives the rows of the step that has been planned their masks. Masks may take a while, so this is done without the lock.
func (s *subserver) constrain() {
	st := &s.step
	if st.isAhead {
		return
	}
	for _, l := range st.picked {
		if l.spec.Grammar != "" && l.rows > 0 {
			l.constrain(st.batch.Rows[l.row : l.row+l.rows])
		}
	}
}

// constrain gives rows the masks of what may come after the committed tokens, and after each draft behind them. Rows after a draft
// that may not stand get none: they are not looked at, since the row before it draws something else.
func (l *local) constrain(rows []Row) {
	c := &l.grammar
	if c.advance(l.tokens); c.err != nil {
		return
	}
	at, drafts := c.at, 0
	first := l.cache.Length() + l.take - len(rows) + 1 - len(l.tokens) // drafts before the first row
	for i := range rows {
		for ; drafts < first+i; drafts++ {
			next, err := at.Next(l.draft[drafts].Token)
			if err != nil {
				return
			}
			at = next
		}
		rows[i].Allowed, _ = at.Mask()
	}
}

// unmasked says why a row of a request with a grammar cannot be used.
func (l *local) unmasked(row *Row) error {
	switch {
	case l.spec.Grammar == "" || row.Allowed != nil:
		return nil
	case l.grammar.err != nil:
		return l.grammar.err
	default:
		return fmt.Errorf("position %d: the grammar of the request is too intricate: it has too many states", len(l.tokens))
	}
}

// forced reports whether the token of a row could be no other, so that no other model need write it. An algorithm that decides once
// about a whole answer is asked all the same.
func (l *local) forced(row *Row) bool {
	if row.Allowed == nil || l.role.Keep || l.role.Score != nil && l.role.Score.Answers {
		return false
	}
	count := 0
	for _, w := range row.Allowed {
		if count += bits.OnesCount32(w); count > 1 {
			return false
		}
	}
	return count == 1
}
