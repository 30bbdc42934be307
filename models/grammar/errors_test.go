package grammar

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What cannot be followed is refused, with its place in the schema.
func TestRefusedSchemas(t *testing.T) {
	v := byteVocabulary()
	for _, c := range []struct{ schema, path, reason string }{
		{`{"type":"object","properties":{"a":{"type":"number","multipleOf":2}}}`, "properties.a.multipleOf", "this keyword is not supported"},
		{`{"not":{}}`, "not", "this keyword is not supported"},
		{`{"if":{}}`, "if", "this keyword is not supported"},
		{`{"type":"array","uniqueItems":true}`, "uniqueItems", "this keyword is not supported"},
		{`{"type":"object","patternProperties":{}}`, "patternProperties", "this keyword is not supported"},
		{`{"type":"text"}`, "type", "must be one of object, array, string"},
		{`{"type":[]}`, "type", "one at least"},
		{`{"type":"string","format":"iban"}`, "format", "this format is not supported; supported are date, date-time"},
		{`{"type":"string","format":"date","pattern":"a"}`, "format", "beside pattern"},
		{`{"type":"string","pattern":"(?=a)"}`, "pattern", "invalid or unsupported Perl syntax"},
		{`{"type":"string","pattern":"\\bword"}`, "pattern", "is not supported in a pattern"},
		{`{"type":"string","pattern":"a","minLength":1}`, "minLength", "beside pattern"},
		{`{"type":"string","minLength":3,"maxLength":2}`, "minLength", "more than maxLength"},
		{`{"type":"string","maxLength":5000}`, "maxLength", "supported up to 4096"},
		{`{"type":"string","maxLength":-1}`, "maxLength", "whole number"},
		{`{"type":"string","maxLength":"1"}`, "maxLength", "whole number"},
		{`{"type":"integer","minimum":"1"}`, "minimum", "must be a number"},
		{`{"type":"integer","minimum":1e999}`, "minimum", "is not a number of at most"},
		{`{"type":"integer","minimum":2,"maximum":1}`, "", "no number is within its limits"},
		{`{"type":"integer","exclusiveMinimum":1,"exclusiveMaximum":2}`, "", "no number is within its limits"},
		{`{"enum":[]}`, "enum", "one at least"},
		{`{"enum":["a"],"type":"integer"}`, "", "no value of it is of its type"},
		{`{"enum":["a"],"minLength":1}`, "minLength", "beside enum"},
		{`{"anyOf":[]}`, "anyOf", "one at least"},
		{`{"anyOf":[{}],"type":"object"}`, "type", "is not supported beside anyOf"},
		{`{"allOf":[{},{}]}`, "allOf", "one schema only"},
		{`{"oneOf":[{"type":"integer"},{"type":"number"}]}`, "oneOf", "tell them apart"},
		{`{"oneOf":[{"enum":["a","b"]},{"const":"b"}]}`, "oneOf", "tell them apart"},
		{`{"$ref":"other.json"}`, "$ref", "only references within the schema"},
		{`{"$ref":"#/$defs/x"}`, "$ref", `there is nothing at "#/$defs/x"`},
		{`{"$ref":"#"}`, "", "nothing finite is valid"},
		{`{"anyOf":[{"type":"null"},{"$ref":"#"}]}`, "", "refers to itself with nothing in between"},
		{`{"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]}`, "", "nothing finite is valid"},
		{`false`, "", "nothing finite is valid"},
		{`{"type":"object","required":["a"],"additionalProperties":false}`, "required", `"a" is not among properties`},
		{`{"type":"object","required":"a"}`, "required", "array of names"},
		{`{"type":"object","properties":[]}`, "properties", "an object of schemas"},
		{`{"type":"object","properties":{"a":1}}`, "properties.a", "a schema is an object, true or false"},
		{`{"type":"array","prefixItems":[{"minimum":"a"}]}`, "prefixItems[0].minimum", "must be a number"},
		{`{"type":"array","items":false,"minItems":1}`, "minItems", "more than the items"},
		{`[]`, "", "a schema is an object, true or false"},
		{strings.Repeat(`{"items":`, 70) + "1" + strings.Repeat("}", 70), "", "nested more than 64 deep"},
		{`{"a":1,"a":2}`, "", `"a" is given twice`},
	} {
		_, err := Compile(v, schemaOf(c.schema))
		var e *SchemaError
		require.ErrorAs(t, err, &e, c.schema)
		require.Equal(t, c.path, e.Path, c.schema)
		require.Contains(t, e.Reason, c.reason, c.schema)
	}
}

func TestTooLarge(t *testing.T) {
	schema := `{"type":"array","items":{"type":"string","maxLength":4096},"prefixItems":[` + strings.Repeat(`{"type":"string","maxLength":4096},`, 10) + `true]}`
	_, err := Compile(byteVocabulary(), schemaOf(schema))
	require.ErrorContains(t, err, "too large")
}

// What would take long is refused as soon as that is plain, whichever part of a schema makes it so.
func TestLargeSchemas(t *testing.T) {
	many := func(format string, n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = strings.ReplaceAll(format, "N", strconv.Itoa(i))
		}
		return strings.Join(list, ",")
	}
	const tooLarge = "too large"
	for name, c := range map[string]struct{ schema, reason string }{
		"properties":                         {`{"properties":{` + many(`"pN":{}`, 8_000) + `}}`, tooLarge},
		"required":                           {`{"type":"object","required":[` + many(`"pN"`, 8_000) + `]}`, tooLarge},
		"a pattern":                          {`{"type":"string","pattern":"` + strings.Repeat("[^a]", 8_000) + `"}`, tooLarge},
		"a long pattern":                     {`{"type":"string","pattern":"` + strings.Repeat("a", 100_000) + `"}`, tooLarge},
		"a long name":                        {`{"additionalProperties":true,"properties":{"` + strings.Repeat("a", 50_000) + `":true}}`, tooLarge},
		"a long constant beside many values": {`{"const":"` + strings.Repeat("a", 250_000) + `","enum":[` + many("1", 100_000) + `]}`, "no value of it is of its type"},
	} {
		nodes := MaxNodes
		err := Supported([]byte(c.schema), &nodes)
		require.ErrorContains(t, err, c.reason, name)
		require.Equal(t, c.reason == tooLarge, nodes == 0, name)
	}
}

// Several share the nodes that there are: what one has used up is refused to the next.
func TestSupportedShares(t *testing.T) {
	nodes := 3_000
	schema := []byte(`{"type":"object","properties":{"a":{"type":"integer"}}}`)
	some := 0
	for Supported(schema, &nodes) == nil {
		some++
	}
	require.Positive(t, some)
	require.Zero(t, nodes)
}

// Nobody waits for a turn longer than they want to.
func TestTurn(t *testing.T) {
	var all []func()
	for range cap(turns) {
		done, err := Turn(t.Context())
		require.NoError(t, err)
		all = append(all, done)
	}
	left, leave := context.WithCancel(t.Context())
	leave()
	_, err := Turn(left)
	require.ErrorIs(t, err, context.Canceled)
	for _, done := range all {
		done()
	}
	done, err := Turn(t.Context())
	require.NoError(t, err)
	done()
}

// Sources that are not schemas.
func TestSources(t *testing.T) {
	v := byteVocabulary()
	text := func(s string) Source { return Source{Text: s} }
	one := func(s Source) *Source { return &s }
	for _, c := range []struct {
		source    Source
		good, bad []string
	}{
		{text("ab"), []string{"ab"}, []string{"", "a", "abc"}},
		{Source{Sequence: []Source{text("a"), {Optional: one(text("b"))}, {Several: one(text("c"))}}}, []string{"ac", "abcc"}, []string{"ab", "a", "bc"}},
		{Source{Choice: []Source{text("ab"), text("ac"), {Schema: []byte(`{"const":1}`)}}}, []string{"ab", "ac", "1"}, []string{"a", "abac"}},
		{Source{Until: "</t>"}, []string{"</t>", "x <</t>", "</</t>", "é\n</t>"}, []string{"", "x", "</t", "</t>x", "</t></t>"}},
		{Source{Without: "<t>"}, []string{"", "<", "<t", "<<t", "é\xff"}, []string{"<t>", "a<t>b", "<<t>"}},
		{Source{Sequence: []Source{{Without: "aab"}, text("aab!")}}, []string{"aab!", "aaab!", "xaab!"}, []string{"aabaab!", "aab"}},
	} {
		g := compiled(t, v, c.source.String())
		for _, s := range c.good {
			require.True(t, accepts(g, s), "%v %q", c.source, s)
		}
		for _, s := range c.bad {
			require.False(t, accepts(g, s), "%v %q", c.source, s)
		}
	}
	for _, s := range []string{"", "{}", `{"text":"a","until":"b"}`, `{"text":1}`, `{"x":1}`, `{"choice":[{}]}`} {
		_, err := Compile(v, s)
		require.Error(t, err, s)
	}
}

// What a state refuses, and what comes after the end.
func TestStates(t *testing.T) {
	v := NewVocabulary(6, func(id int32) string { return []string{"a", "ab", "b", "a", "", "x"}[id] }, []int32{5})
	g := compiled(t, v, Source{Text: "ab"}.String())
	s := g.Start()
	require.Equal(t, []int32{0, 1, 3}, allowed(s), "two tokens of the same bytes, and one of more")
	for _, id := range []int32{2, 4, 5, 6, -1} {
		_, err := s.Next(id)
		require.Error(t, err, id)
	}
	a, err := s.Next(3)
	require.NoError(t, err)
	_, only := a.Mask()
	require.EqualValues(t, 2, only)
	require.False(t, a.Complete())
	ab, err := a.Next(2)
	require.NoError(t, err)
	require.True(t, ab.Complete())
	_, only = ab.Mask()
	require.EqualValues(t, 5, only, "nothing but the end may come")
	over, err := ab.Next(5)
	require.NoError(t, err)
	_, err = over.Next(5)
	require.ErrorContains(t, err, "after the end")
}
