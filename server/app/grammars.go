package app

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/tokenrouter/tokenrouter/models"
	"github.com/tokenrouter/tokenrouter/models/grammar"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/api"
)

// mostGrammars is how many grammars of a model are kept, with what is known of their states: a few megabytes each.
const mostGrammars = 16

// grammars compiles those of one model's requests, and remembers the last ones. Its vocabulary is put in order when it is first
// needed.
type grammars struct {
	model      *models.Model
	vocabulary func() *grammar.Vocabulary

	mu    sync.Mutex
	known []knownGrammar // the last used comes last
}

type knownGrammar struct {
	source string
	start  grammar.State
}

var (
	_ sched.Grammars = (*grammars)(nil)
	_ api.Grammars   = (*grammars)(nil)
)

func newGrammars(m *models.Model) *grammars {
	return &grammars{model: m, vocabulary: sync.OnceValue(func() *grammar.Vocabulary {
		t := m.Tokenizer()
		return grammar.NewVocabulary(t.VocabSize(), t.Writable, m.EndIDs())
	})}
}

// Check implements api.Grammars. What is not known yet is compiled in turn.
func (g *grammars) Check(ctx context.Context, source string) error {
	if _, ok := g.lookUp(source); ok {
		return nil
	}
	done, err := grammar.Turn(ctx)
	if err != nil {
		return err
	}
	defer done()
	_, err = g.start(source) // which somebody else may have compiled meanwhile
	return err
}

// Constraint implements sched.Grammars.
func (g *grammars) Constraint(source string) (sched.Constraint, error) {
	s, err := g.start(source)
	if err != nil {
		return nil, err
	}
	return constraint{s}, nil
}

// start is the beginning of a grammar. Compiling may take a while, and the scheduler asks with its locks held, so it is done
// without the lock: those that ask for what is known do not wait.
func (g *grammars) start(source string) (grammar.State, error) {
	if s, ok := g.lookUp(source); ok {
		return s, nil
	}
	compiled, err := grammar.Compile(g.vocabulary(), source)
	if err != nil {
		return grammar.State{}, err
	}
	if s, ok := g.lookUp(source); ok { // somebody else was quicker
		return s, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.known) >= mostGrammars {
		g.known = slices.Delete(g.known, 0, 1)
	}
	s := compiled.Start()
	g.known = append(g.known, knownGrammar{source, s})
	return s, nil
}

func (g *grammars) lookUp(source string) (grammar.State, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.IndexFunc(g.known, func(k knownGrammar) bool { return k.source == source })
	if i < 0 {
		return grammar.State{}, false
	}
	k := g.known[i]
	g.known = append(slices.Delete(g.known, i, i+1), k)
	return k.start, true
}

// constraint is a state of a grammar as the scheduler sees it.
type constraint struct{ state grammar.State }

// Mask implements sched.Constraint.
func (c constraint) Mask() ([]uint32, int32) { return c.state.Mask() }

// Next implements sched.Constraint.
func (c constraint) Next(id int32) (sched.Constraint, error) {
	next, err := c.state.Next(id)
	if err != nil {
		return nil, fmt.Errorf("grammar: %w", err)
	}
	return constraint{next}, nil
}
