package oracle

import (
	"fmt"

	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
)

// decide asks the algorithm where the request goes. A token that the grammar alone decides is never thrown away for another model to
// write the same one, unless one decision is about the whole answer.
func (l *loop) decide(row router.Row) router.Destination {
	role := l.roles[l.active]
	if l.forced() {
		return router.Stay
	}
	return role.Route(l.view(row))
}

func (l *loop) forced() bool {
	role := l.roles[l.active]
	if l.grammar == nil || role.Keep || role.Score != nil && role.Score.Answers {
		return false
	}
	_, only := l.grammar.Mask()
	return only >= 0
}

// advance moves the grammar on by a token that was kept.
func (l *loop) advance(token int32) error {
	if l.grammar == nil {
		return nil
	}
	next, err := l.grammar.Next(token)
	if err != nil {
		return fmt.Errorf("token %d after %d others: %w", token, len(l.sequence), err)
	}
	l.grammar = next
	return nil
}

// ahead is the grammar after the drafts of a model that drafts.
func (l *loop) ahead() sched.Constraint {
	at := l.grammar
	if !l.roles[l.active].Draft {
		return at
	}
	for _, d := range l.draft {
		next, err := at.Next(d.Token)
		if err != nil {
			panic("oracle: a draft is not in the grammar: " + err.Error())
		}
		at = next
	}
	return at
}
