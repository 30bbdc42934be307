package grammar

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Source describes a grammar; exactly one of its fields is given. It is plain data, so that it can go along with a request.
type Source struct {
	// Schema is a JSON value that the schema is true of. {"type": "object"} is any object.
	Schema json.RawMessage `json:"schema,omitempty"`
	// Text is exactly this.
	Text string `json:"text,omitempty"`
	// Sequence is one after another, Choice one of several.
	Sequence []Source `json:"sequence,omitempty"`
	Choice   []Source `json:"choice,omitempty"`
	// Optional is it or nothing, Several it once or more.
	Optional *Source `json:"optional,omitempty"`
	Several  *Source `json:"several,omitempty"`
	// Until is any text up to the first appearance of this one, and this.
	Until string `json:"until,omitempty"`
	// Without is any text, of any length, in which this one does not appear.
	Without string `json:"without,omitempty"`
	// Name says in errors which schema is meant.
	Name string `json:"name,omitempty"`
}

// String is the source as text, for [Compile].
func (s Source) String() string {
	text, err := json.Marshal(s)
	if err != nil { // a schema that is no JSON: Compile will say so
		return err.Error()
	}
	return string(text)
}

// MaxSource bounds the bytes of a source.
const MaxSource = 512 << 10

// Compile makes the grammar that a [Source], written by its String, describes. The error of a schema is a *[SchemaError].
func Compile(v *Vocabulary, source string) (*Grammar, error) {
	b := &builder{vocab: v, rules: make(map[string]int32), most: MaxNodes}
	start, err := b.compile(source)
	if err != nil {
		return nil, fmt.Errorf("grammar: %w", err)
	}
	return newGrammar(v, b.nodes, start), nil
}

// compile makes the nodes of a source, and returns the one at which it starts.
func (b *builder) compile(source string) (start int32, err error) {
	if len(source) > MaxSource {
		return 0, &SchemaError{Reason: fmt.Sprintf("it has %d bytes; at most %d are supported", len(source), MaxSource)}
	}
	var s Source
	d := json.NewDecoder(bytes.NewReader([]byte(source)))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return 0, err
	}
	start, err = b.rule("start", func() (frag, error) { return b.source(&s) })
	if err != nil {
		var of *SchemaError
		if errors.As(err, &of) || !errors.Is(err, errTooLarge) {
			return 0, err
		}
		return 0, &SchemaError{Reason: err.Error()}
	}
	if err := b.finish(start); err != nil {
		return 0, &SchemaError{Reason: err.Error()}
	}
	return start, nil
}

// Supported reports whether a schema can be followed with so many nodes, and takes those off that were made to find out: so several
// take no longer than one. The error is a *[SchemaError].
func Supported(schema json.RawMessage, nodes *int) error {
	none := NewVocabulary(1, func(int32) string { return "" }, nil)
	b := &builder{vocab: none, rules: make(map[string]int32), most: *nodes}
	_, err := b.compile(Source{Schema: schema}.String())
	*nodes = max(0, *nodes-len(b.nodes))
	return err
}

var errSource = errors.New("a source with none or several of its fields")

func (b *builder) source(s *Source) (frag, error) {
	var all []frag
	add := func(f frag, err error) error {
		all = append(all, f)
		return err
	}
	parts := func(list []Source) ([]frag, error) {
		out := make([]frag, len(list))
		for i := range list {
			var err error
			if out[i], err = b.source(&list[i]); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	if s.Schema != nil {
		if err := add(b.schemaSource(s)); err != nil {
			return frag{}, err
		}
	}
	for list, combine := range map[*[]Source]func(...frag) frag{&s.Sequence: b.seq, &s.Choice: b.alt} {
		if *list == nil {
			continue
		}
		p, err := parts(*list)
		if err != nil {
			return frag{}, err
		}
		all = append(all, combine(p...))
	}
	for _, one := range []struct {
		source *Source
		make   func(frag) frag
	}{{s.Optional, b.opt}, {s.Several, b.several}} {
		if one.source == nil {
			continue
		}
		f, err := b.source(one.source)
		if err != nil {
			return frag{}, err
		}
		all = append(all, one.make(f))
	}
	for text, make := range map[*string]func(string) frag{&s.Text: b.text, &s.Until: b.until, &s.Without: b.without} {
		if *text != "" {
			all = append(all, make(*text))
		}
	}
	if len(all) != 1 {
		return frag{}, errSource
	}
	return all[0], nil
}

// several is it once or more.
func (b *builder) several(f frag) frag {
	in, out := b.node(), b.node()
	b.skip(in, f.in)
	b.skip(f.out, f.in)
	b.skip(f.out, out)
	return frag{in, out}
}

// until is any text up to the first appearance of this one, and this.
func (b *builder) until(text string) frag {
	at := b.search(text)
	return frag{at[0], at[len(text)]}
}

// without is any text in which this one does not appear.
func (b *builder) without(text string) frag {
	at := b.search(text)
	out := b.node()
	for _, n := range at[:len(text)] {
		b.skip(n, out)
	}
	b.nodes[at[len(text)]].edges = nil // leads nowhere
	return frag{at[0], out}
}

// search is the automaton that looks for a text: one node for each number of its bytes that have been found.
func (b *builder) search(text string) []int32 {
	at := make([]int32, len(text)+1)
	for i := range at {
		at[i] = b.node()
	}
	for i := range len(text) {
		for by := range 256 {
			seen := text[:i] + string([]byte{byte(by)})
			n := min(len(seen), len(text))
			for seen[len(seen)-n:] != text[:n] {
				n--
			}
			b.nodes[at[i]].edges = append(b.nodes[at[i]].edges, edge{byte(by), byte(by), at[n]})
		}
	}
	return at
}
