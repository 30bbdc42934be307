package grammar

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// A schema is refused with a reason, or what is written under it is JSON, and valid if the schema is one.
func FuzzSchema(f *testing.F) {
	for _, c := range cases {
		f.Add([]byte(c.schema), uint64(1))
	}
	f.Add([]byte(`{"type":"string","pattern":"(a|b)*a(a|b){90}"}`), uint64(2))
	v := mixedVocabulary(rand.New(rand.NewPCG(1, 1)))
	f.Fuzz(func(t *testing.T, schema []byte, seed uint64) {
		g, err := Compile(v, Source{Schema: json.RawMessage(schema)}.String())
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		r := rand.New(rand.NewPCG(seed, 1))
		s := g.Start()
		text := ""
		for range 60 {
			mask, _ := s.Mask()
			if mask == nil {
				return // too intricate
			}
			ids := allowed(s)
			if len(ids) == 0 {
				return // a byte for which there is no token
			}
			id := ids[r.IntN(len(ids))]
			if s.Complete() && r.IntN(2) == 0 {
				id = end
			}
			next, err := s.Next(id)
			require.NoError(t, err)
			if id == end {
				require.True(t, json.Valid([]byte(text)), text)
				if doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(schema))); err == nil {
					c := jsonschema.NewCompiler()
					if c.AddResource("schema.json", doc) != nil {
						return
					}
					if judge, err := c.Compile("schema.json"); err == nil {
						require.NoError(t, valid(judge, text), text)
					}
				}
				return
			}
			text += v.tokens[id]
			s = next
		}
	})
}

// A grammar with more states than can be found out gives no mask, and leaves the process as it was.
func TestTooIntricate(t *testing.T) {
	v := NewVocabulary(257+1<<13, func(id int32) string {
		if id < 256 {
			return string([]byte{byte(id)})
		}
		var b strings.Builder // every text of 13 letters a and b
		for i := range 13 {
			b.WriteByte('a' + byte((id-257)>>i&1))
		}
		return b.String()
	}, []int32{end})
	g := compiled(t, v, schemaOf(`{"type":"string","pattern":"a.{200}b"}`))
	s, err := g.Start().Next('"')
	require.NoError(t, err)
	mask, _ := s.Mask()
	require.Nil(t, mask)
	s, err = s.Next('a') // it can still be followed
	require.NoError(t, err)
	require.False(t, s.Complete())
}
