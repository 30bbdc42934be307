package models_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/internal/cputime"
	"github.com/tokenrouter/tokenrouter/models/grammar"
	"github.com/tokenrouter/tokenrouter/models/tokenizer"
)

// How long a mask over a real vocabulary takes: the first time that a grammar is written by, and when its states are known.
func TestMaskSpeed(t *testing.T) {
	m := real(t, "qwen2.5-coder-0.5b")
	tok := m.Tokenizer()
	start := cputime.Now(t)
	v := grammar.NewVocabulary(tok.VocabSize(), tok.Writable, m.EndIDs())
	t.Logf("vocabulary of %d: %v", tok.VocabSize(), cputime.Now(t)-start)
	for name, c := range map[string]struct{ schema, text string }{
		"person": {`{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer","minimum":0,"maximum":130},"email":{"type":"string","format":"email"},
			"tags":{"type":"array","items":{"enum":["red","green","blue"]}}},"required":["name","age","email","tags"],"additionalProperties":false}`,
			`{"name": "Ada Lovelace of Ockham Park", "age": 36, "email": "ada@example.org", "tags": ["red", "blue"]}`},
		"object": {`{"type":"object"}`, `{"a": {"b": [1, 2, {"c": "some text, \"quoted\" and not", "d": [[[[{"e": null}]]]]}]}, "list": ["one", "two", "three"], "x": -1.5e3}`},
		"length": {`{"type":"string","minLength":10,"maxLength":1000}`, `"` + "A sentence that goes on for a while, and then some more of it, to the end." + `"`},
	} {
		ids := tok.Encode(c.text, tokenizer.Options{})
		start := cputime.Now(t)
		g, err := grammar.Compile(v, grammar.Source{Schema: json.RawMessage(c.schema)}.String())
		require.NoError(t, err)
		compile := cputime.Now(t) - start
		pass := func() []time.Duration {
			var took []time.Duration
			s := g.Start()
			for _, id := range ids {
				start := cputime.Now(t)
				mask, _ := s.Mask()
				require.NotZero(t, mask[id/32]>>(id%32)&1)
				var err error
				s, err = s.Next(id)
				took = append(took, cputime.Now(t)-start)
				require.NoError(t, err)
			}
			slices.Sort(took)
			return took
		}
		cold, warm := pass(), pass()
		t.Logf("%-8s %3d tokens, compiled in %8v; first: median %v, most %v; then: median %v, most %v", name, len(ids), compile,
			cold[len(cold)/2], cold[len(cold)-1], warm[len(warm)/2], warm[len(warm)-1])
		require.Less(t, warm[len(warm)/2], 200*time.Microsecond)
	}
}
