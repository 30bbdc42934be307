package output

import (
	"encoding/json"

	"github.com/tokenrouter/tokenrouter/models/grammar"
)

// Function is a function that may be called.
type Function struct {
	Name      string
	Arguments grammar.Source // of a call
}

// AfterThoughts is an answer in a grammar, behind thoughts if the model has them.
func (s Style) AfterThoughts(t Thinking, answer grammar.Source) grammar.Source {
	text := func(t string) grammar.Source { return grammar.Source{Text: t} }
	breaks := grammar.Source{Optional: &grammar.Source{Choice: []grammar.Source{text("\n"), text("\n\n")}}}
	switch t {
	case Opened:
		return grammar.Source{Sequence: []grammar.Source{{Until: thinkShut}, breaks, answer}}
	case Unopened:
		thoughts := grammar.Source{Sequence: []grammar.Source{text(thinkOpen), {Until: thinkShut}, breaks}}
		return grammar.Source{Sequence: []grammar.Source{{Optional: &thoughts}, answer}}
	default:
		return answer
	}
}

// Must is an answer that calls one of these functions; with several, any number of times.
func (s Style) Must(functions []Function, several bool) grammar.Source {
	if s.Calls == Llama {
		return s.calls(functions)
	}
	one := grammar.Source{Sequence: []grammar.Source{{Text: callOpen}, s.calls(functions)}}
	if !several {
		return one
	}
	return s.more(one)
}

// May is an answer in which calls are valid if there are any.
func (s Style) May(functions []Function, several bool) grammar.Source {
	if s.Calls == Llama { // what begins like a call is one
		free := grammar.Source{Without: `{"name"`}
		return grammar.Source{Choice: []grammar.Source{s.calls(functions), free}}
	}
	first := grammar.Source{Sequence: []grammar.Source{{Until: callOpen}, s.calls(functions)}}
	if several {
		first = s.more(first)
	}
	return grammar.Source{Choice: []grammar.Source{{Without: callOpen}, first}}
}

// more is a call, and any number of others behind it.
func (s Style) more(first grammar.Source) grammar.Source {
	next := grammar.Source{Sequence: []grammar.Source{{Text: "\n" + callOpen}, {Sequence: first.Sequence[1:]}}}
	return grammar.Source{Sequence: []grammar.Source{first, {Optional: &grammar.Source{Several: &next}}}}
}

// calls is a call of one of the functions, behind its mark.
func (s Style) calls(functions []Function) grammar.Source {
	before, middle, after := "\n{\"name\": ", ", \"arguments\": ", "}\n"+callShut
	if s.Calls == Llama {
		before, middle, after = "{\"name\": ", ", \"parameters\": ", "}"
	}
	all := make([]grammar.Source, len(functions))
	for i, f := range functions {
		name, err := json.Marshal(f.Name)
		if err != nil { // of a string: cannot be
			name = []byte(`""`)
		}
		all[i] = grammar.Source{Sequence: []grammar.Source{{Text: before + string(name) + middle}, f.Arguments, {Text: after}}}
	}
	return grammar.Source{Choice: all}
}
