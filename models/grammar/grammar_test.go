package grammar

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// end is the token that ends a text in the tests' vocabularies; token i < 256 is the byte i.
const end = 256

// byteVocabulary has a token for each byte, and one that ends the text.
func byteVocabulary() *Vocabulary {
	return NewVocabulary(257, func(id int32) string { return string([]byte{byte(id)}) }, []int32{end})
}

// schemaOf is a source of a schema.
func schemaOf(text string) string { return Source{Schema: json.RawMessage(text)}.String() }

func compiled(t *testing.T, v *Vocabulary, source string) *Grammar {
	t.Helper()
	g, err := Compile(v, source)
	require.NoError(t, err)
	return g
}

// accepts reports whether a text is in a grammar over bytes.
func accepts(g *Grammar, text string) bool {
	s := g.Start()
	for i := range len(text) {
		next, err := s.Next(int32(text[i]))
		if err != nil {
			return false
		}
		s = next
	}
	return s.Complete()
}

// allowed lists the tokens of a mask.
func allowed(s State) []int32 {
	mask, _ := s.Mask()
	var ids []int32
	for i := range 32 * len(mask) {
		if mask[i/32]>>(i%32)&1 == 1 {
			ids = append(ids, int32(i))
		}
	}
	return ids
}

// stroll writes a text of a grammar by tokens drawn at random from those that are allowed. It ends it as soon as it may, once it
// is long.
func stroll(t *testing.T, v *Vocabulary, g *Grammar, r *rand.Rand) (text string, ended bool) {
	t.Helper()
	s := g.Start()
	for n := range 600 {
		ids := allowed(s)
		require.NotEmpty(t, ids, "nothing may come after %q", text)
		id := ids[r.IntN(len(ids))]
		if s.Complete() && (n > 40 || r.IntN(3) == 0) {
			id = v.ends[0]
		}
		next, err := s.Next(id)
		require.NoError(t, err, "after %q", text)
		if id == v.ends[0] {
			return text, true
		}
		// Prefer what ends things, or free text and nested values would go on for ever.
		if n > 60 {
			wants := []string{`"`, "}", "]", "0", "e", "l", "a", "c"}
			for i := range wants {
				want := wants[(i+n*r.IntN(2))%len(wants)]
				if mask, _ := s.Mask(); mask[want[0]/32]>>(want[0]%32)&1 == 1 && v.tokens[want[0]] == want {
					if other, err := s.Next(int32(want[0])); err == nil {
						id, next = int32(want[0]), other
						break
					}
				}
			}
		}
		text += v.tokens[id]
		s = next
	}
	return text, false
}

// validator is the judge: a JSON schema library.
func validator(t *testing.T, text string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource("schema.json", doc))
	s, err := c.Compile("schema.json")
	require.NoError(t, err)
	return s
}

func valid(s *jsonschema.Schema, text string) error {
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

// mixedVocabulary has every byte and many tokens of several bytes, cut out of JSON texts.
func mixedVocabulary(r *rand.Rand) *Vocabulary {
	corpus := `{"name": "Ann", "age": 12, "tags": ["a", "bé", "\n\u00e9\ud83d\ude00"], "x": {"y": [1, -2.5e3, true, null]}}` +
		`{"a":{"b":{"c":[]}},"kind":"dog","list":[{"id":1},{"id":2}]} "2024-02-29T12:00:00Z"  <tool_call>` + "\n\n  \t日本語"
	tokens := map[int32]string{}
	for i := range 256 {
		tokens[int32(i)] = string([]byte{byte(i)})
	}
	for id := int32(end + 1); id < 900; id++ {
		at, n := r.IntN(len(corpus)-8), 1+r.IntN(7)
		tokens[id] = corpus[at : at+n]
	}
	return NewVocabulary(901, func(id int32) string { return tokens[id] }, []int32{end})
}

// A mask has exactly the tokens that can come next, in whichever state: what is remembered of nodes, and what is looked at for a
// stack, add up to what taking each token would show.
func TestMasksAreExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	v := mixedVocabulary(r)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g := compiled(t, v, schemaOf(c.schema))
			s := g.Start()
			for range 25 {
				mask, only := s.Mask()
				count, last := 0, none
				for id := range int32(v.size) {
					_, err := s.Next(id)
					bit := mask[id/32]>>(id%32)&1 == 1
					require.Equal(t, err == nil, bit, "token %d, %q", id, v.tokens[id])
					if bit {
						count, last = count+1, id
					}
				}
				require.Equal(t, count == 1, only != none)
				if only != none {
					require.Equal(t, last, only)
				}
				ids := allowed(s)
				id := ids[r.IntN(len(ids))]
				if id == end {
					s = g.Start()
					continue
				}
				var err error
				s, err = s.Next(id)
				require.NoError(t, err)
			}
		})
	}
}

// Whatever is written under a schema is valid, and what is listed as such can, or cannot, be written.
func TestSchemas(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	bytes, mixed := byteVocabulary(), mixedVocabulary(r)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			judge := validator(t, c.schema)
			g := compiled(t, bytes, schemaOf(c.schema))
			for _, text := range c.good {
				require.NoError(t, valid(judge, text), text)
				require.True(t, accepts(g, text), text)
			}
			for _, text := range c.bad {
				require.False(t, accepts(g, text), text)
			}
			g = compiled(t, mixed, schemaOf(c.schema))
			whole := 0
			for range 60 {
				if text, ended := stroll(t, mixed, g, r); ended {
					whole++
					require.NoError(t, valid(judge, text), text)
				}
			}
			require.Greater(t, whole, 10, "texts that came to an end")
		})
	}
}

// Every whole number from low to high, and no other.
func TestIntegerLimits(t *testing.T) {
	v := byteVocabulary()
	r := rand.New(rand.NewPCG(5, 6))
	for range 60 {
		low := r.IntN(3000) - 1500
		high := low + r.IntN(1+r.IntN(2000))
		g := compiled(t, v, schemaOf(fmt.Sprintf(`{"type":"integer","minimum":%d,"exclusiveMaximum":%d}`, low, high+1)))
		for n := -1700; n < 3700; n += 1 + r.IntN(3) {
			require.Equal(t, low <= n && n <= high, accepts(g, fmt.Sprint(n)), "%d in %d to %d", n, low, high)
		}
		for _, n := range []int{low - 1, low, low + 1, high - 1, high, high + 1} {
			require.Equal(t, low <= n && n <= high, accepts(g, fmt.Sprint(n)), "%d in %d to %d", n, low, high)
		}
	}
}

// Decimals with up to three places.
func TestNumberLimits(t *testing.T) {
	v := byteVocabulary()
	r := rand.New(rand.NewPCG(7, 8))
	number := func(thousandths int) string {
		return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.3f", float64(thousandths)/1000), "0"), ".")
	}
	for range 60 {
		low := r.IntN(8000) - 4000
		high := low + 1 + r.IntN(1+r.IntN(6000))
		strict := r.IntN(2) == 0
		keywords := `"minimum":%s,"maximum":%s`
		if strict {
			keywords = `"exclusiveMinimum":%s,"exclusiveMaximum":%s`
		}
		g := compiled(t, v, schemaOf(fmt.Sprintf(`{"type":"number",`+keywords+`}`, number(low), number(high))))
		for _, n := range append(r.Perm(300), 12000, 3*low, 3*high) {
			n = low - 100 + n*(high-low+200)/300
			for _, n := range []int{n, low, high, low - 1, high + 1} {
				in := low <= n && n <= high && (!strict || low < n && n < high)
				if n == 0 || n < 0 && n > -1000 && number(n) == "-0" {
					continue
				}
				require.Equal(t, in, accepts(g, number(n)), "%s in %s to %s, %v", number(n), number(low), number(high), strict)
				if n%1000 != 0 { // trailing zeros change nothing
					require.Equal(t, in, accepts(g, number(n)+"00"))
				}
			}
		}
	}
}
