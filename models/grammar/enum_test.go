package grammar

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// words are so many strings of JSON, all different.
func words(n int) []string {
	r := rand.New(rand.NewPCG(1, 2))
	list := make([]string, n)
	for i := range list {
		var b strings.Builder
		for range 10 {
			b.WriteByte(byte('a' + r.IntN(26)))
		}
		list[i] = fmt.Sprintf(`"%s%d"`, b.String(), i)
	}
	return list
}

// However many values there are to choose from, a mask is found by following what begins alike: the work is about that of the
// tokens that may come, not that times the values.
func TestManyValues(t *testing.T) {
	list := words(8000)
	tokens := []string{`"`}
	for a := 'a'; a <= 'z'; a++ {
		for b := 'a'; b <= 'z'; b++ {
			tokens = append(tokens, string(a)+string(b), `"`+string(a)+string(b))
		}
	}
	v := NewVocabulary(257+len(tokens), func(id int32) string {
		if id >= 257 {
			return tokens[id-257]
		}
		return string([]byte{byte(id)})
	}, []int32{end})
	for name, schema := range map[string]string{
		"enum":      `{"enum":[` + strings.Join(list, ",") + `]}`,
		"constants": `{"anyOf":[{"description":"d","const":` + strings.Join(list, `},{"const":`) + `}]}`,
		"apart":     `{"anyOf":[{"type":"null"},{"type":"string","enum":[` + strings.Join(list[:4000], ",") + `]},{"enum":[` + strings.Join(list[4000:], ",") + `]}]}`,
		"one of":    `{"oneOf":[{"type":"string","enum":[` + strings.Join(list[:4000], ",") + `]},{"enum":[` + strings.Join(list[4000:], ",") + `]}]}`,
	} {
		g := compiled(t, v, schemaOf(schema))
		for _, text := range []string{list[0], list[len(list)-1]} {
			s := g.Start()
			for i := range len(text) {
				mask, _ := s.Mask()
				require.NotNil(t, mask, name)
				require.Less(t, g.work, 20_000, "%s: mask at %d", name, i)
				next, err := s.Next(int32(text[i]))
				require.NoError(t, err, name)
				s = next
			}
			require.True(t, s.Complete(), name)
		}
		require.False(t, accepts(g, `"nothing"`), name)
		require.False(t, accepts(g, list[0][:5]+`"`), name)
	}
}

// To tell many schemas with many values apart takes too long, and is refused.
func TestTooManyToTellApart(t *testing.T) {
	list := words(3000)
	schema := `{"oneOf":[{"const":` + strings.Join(list, `},{"const":`) + `}]}`
	_, err := Compile(byteVocabulary(), schemaOf(schema))
	var e *SchemaError
	require.ErrorAs(t, err, &e)
	require.Equal(t, "oneOf", e.Path)
	require.Contains(t, e.Reason, "too many values to tell its schemas apart. Use anyOf")
}
