package chat

import (
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// greedy are templates that would take all memory, by what they are told.
var greedy = map[string]string{
	"{{ 'a'*1000000000000 }}":                                                                                    "more than",
	"{{ 1000000000000*'a' }}":                                                                                    "more than",
	"{{ ('a'*2000000000)[:1] }}":                                                                                 "more than",
	"{{ ('a'*100000)|replace('a','b'*100000) }}":                                                                 "more than",
	"{{ ('a'*100000).replace('a','b'*100000) }}":                                                                 "more than",
	"{{ 'x'|indent(10000000000) }}":                                                                              "more than",
	"{{ ('a\\n'*50000)|indent('b'*100000) }}":                                                                    "more than",
	"{{ ('a,'*50000).split(',')|join('b'*100000) }}":                                                             "more than",
	"{{ ('b'*100000).join(('a,'*50000).split(',')) }}":                                                           "more than",
	"{{ ('{}'*50000).format('b'*10000000) }}{{ ('{0}'*50000).format('b'*9999) }}":                                "more than",
	"{% set ns = namespace(s='a') %}{% for i in range(60) %}{% set ns.s = ns.s + ns.s %}{% endfor %}":            "more than",
	"{% set ns = namespace(s='a') %}{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}":            "more than",
	"{% set ns = namespace(s=[1]) %}{% for i in range(60) %}{% set ns.s = ns.s + ns.s %}{% endfor %}":            "more than",
	"{% set ns = namespace(s=[1]) %}{% for i in range(60) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}{{ ns.s }}": "more than",
	"{% set ns = namespace(s=[1]) %}{% for i in range(60) %}{% set ns.s = {'a': ns.s, 'b': ns.s} %}{% endfor %}": "more than",
	"{% set ns = namespace(s=(1, 2)) %}{% for i in range(60) %}{% set ns.s = (ns.s, ns.s) %}{% endfor %}":        "more than",
	"{% set ns = namespace(s=[1]) %}{% for i in range(60) %}{% set ns.s = dict(a=ns.s, b=ns.s) %}{% endfor %}":   "more than",
	"{% set x = [1] %}{% for i in range(60) %}{% set _ = x.append(x) %}{% endfor %}":                             "more than",
	"{% set x = [1] %}{% for i in range(60) %}{% set _ = x.insert(0, x) %}{% endfor %}":                          "more than",
	"{% set ns = namespace() %}{% for i in range(60) %}{% set ns.a = ns %}{% set ns.b = ns %}{% endfor %}":       "more than",
	"{% set ns = namespace(a=1) %}{% for i in range(60) %}{% set _ = ns.update({i: ns}) %}{% endfor %}":          "more than",
	"{{ [1]*10000000000 }}":   "more than",
	"{{ [[1]*1000]*100000 }}": "more than",
	"{% set s = 'a'*4000000 %}{% for i in range(50000) %}{{ s }}{% endfor %}":        "more than",
	"{% for i in range(99999) %}" + strings.Repeat("literal", 1000) + "{% endfor %}": "more than",
	"{% for c in 'a'*16000000 %}{% break %}{% endfor %}":                             "more than",
	"{{ ('a'*16000000)|list|length }}":                                               "more than",
	"{{ (','*16000000).split(',')|length }}":                                         "more than",
	"{{ ('['*8000000)|from_json }}":                                                  "more than",
	"{{ [1][0:9999999999:2] }}{{ 'a'*99999999 }}":                                    "more than",
	"{{ [1, 2, [3, 4]]|tojson(indent='a'*16000000) }}":                               "more than",
	"{{ range(99999)|list|tojson(separators=['a'*9000, ':']) }}":                     "more than",
	"{{ range(99999)|map(attribute='a', default='b'*9000)|join }}":                   "more than",
	"{% macro m() %}{{ caller() }}{% endmacro %}{% for i in range(99999) %}{% call m() %}" + strings.Repeat("literal", 1000) + "{% endcall %}{% endfor %}": "more than",
	"{% set j = joiner('a'*9000000) %}{% set _ = j() %}{% for i in range(99999) %}{% call j() %}{% endcall %}{% endfor %}":                                 "more than",
	"{% set d = {'a': 'b'*9000000} %}{% for i in range(99999) %}{% call d.get('a') %}{% endcall %}{% endfor %}":                                            "a call statement is",
	"{{ __filter_upper('a') }}":                           `the name "__filter_upper" is reserved`,
	"{% set tr_add = 1 %}":                                `the name "tr_add" is reserved`,
	"{{ 1" + strings.Repeat("+1", maxOperators+1) + " }}": "more than 256 operators in a row",
	"{% filter indent(9999999999) %}a{% endfilter %}":     "a filter block takes one filter",
	"{{ 1 + }}":                           "an operator without a value",
	"{{ * 2 }}":                           "there is no value before *",
	"{{ 1 / 0 }}{{ 2 }}":                  "divides by 0",
	"{{ 9223372036854775807 + 1 }}":       "more than a whole number holds",
	"{{ 99999999999999999999 }}":          "more than a whole number holds",
	"{{ ('a'*16000000)() }}":              "the chat template fails: ",
	"{{ raise_exception('a'*16000000) }}": "aaaa ...",
	"{% set ns = namespace(l=[]) %}{% for i in range(9999) %}{% set _ = ns.l.append(range(9999)) %}{% endfor %}":                           "more than",
	"{% set ns = namespace() %}{% for i in range(60) %}{% set ns.a = ns.a|default([1]) + ns.a|default([1]) %}{% endfor %}{{ ns.a|upper }}": "more than",
	"{{ 'a' - 1 }}": "expected a number",
}

func TestTemplatesThatTakeAllMemory(t *testing.T) {
	allocated := func() uint64 {
		s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	for source, want := range greedy {
		before := allocated()
		_, err := renderSource(source, Request{Messages: []Message{User("abc")}})
		require.ErrorContains(t, err, want, "%.80q", source)
		require.Less(t, len(err.Error()), 2*maxMessage, "%.80q", source)
		require.Less(t, allocated()-before, uint64(2<<30), "%.80q: all that it allocated, most of it free again", source)
		if want == "more than" {
			require.ErrorContains(t, err, "give another template with chat_template", "%.80q", source)
		}
	}
}

// What an honest template makes grows with the conversation.
func TestLongConversations(t *testing.T) {
	source := "{% set ns = namespace(s='') %}{% for m in messages %}{% set ns.s = ns.s + m.content | trim ~ '\n' %}{% endfor %}{{ ns.s }}"
	r := Request{}
	for range 20 {
		r.Messages = append(r.Messages, User(strings.Repeat("a", 2<<20)))
	}
	got, err := renderSource(source, r)
	require.NoError(t, err)
	require.Len(t, got, 20*(2<<20+1))
}

// Values are Python's, by Jinja2's rules of precedence.
func TestOperators(t *testing.T) {
	for source, want := range map[string]string{
		"{{ 1 + 2 * 3 - 4 }}{{ (1 + 2) * 3 }}{{ 10 - 3 - 2 }}{{ 2 * 3 % 4 }}":                               "3952",
		"{{ 1 ~ 2 + 3 ~ 4 }}{{ 'a' + 'b' ~ 1 + 1 }}":                                                        "154ab2",
		"{{ -7 // 2 }} {{ -7 % 3 }} {{ 7 // -2 }} {{ 7 % -3 }} {{ 7.5 % 2 }}":                               "-4 2 -4 -2 1.5",
		"{{ 1 / 2 }} {{ 4 / 2 }} {{ 7.5 // 2 }}":                                                            "0.5 2.0 3.0",
		"{{ 1.0 ~ '' }} {{ none ~ '' }} {{ [1, 'a'] ~ '' }}":                                                "1.0 None [1, 'a']",
		"{{ [1] * 3 }}{{ 'ab' * 2 }}{{ 2 * 'ab' }}{{ 'a' * -1 }}":                                           "[1, 1, 1]ababab" + "ab",
		"{{ [1] + [2] }}{{ 'abc' | first }}{{ 'abc' | last }}":                                              "[1, 2]ac",
		"{{ [1, 2]|length -1 }}{{ [1, 2] | length + 1 }}{{ - 1 + 2 }}":                                      "131",
		"{% if 1 + 1 == 2 and not 2 * 2 > 4 or x %}y{% endif %}":                                            "y",
		"{{ 'a' + ('b' if 1 + 1 == 3 else 'c' + 'd') }}":                                                    "acd",
		"{% for x in [1] + [2] if x * 2 > 2 %}{{ x }}{% endfor %}":                                          "2",
		"{% for c in 'a' + 'b' %}{{ c }},{% endfor %}":                                                      "a,b,",
		"{{ {'a': 1 + 2}['a' + ''] }}{{ [1, 2, 3][1 - 1:1 + 1] }}":                                          "3[1, 2]",
		"{{ 'abc'[::-1] }}{{ [1, 2, 3][::2] }}{{ 'abcd'[1:-1] }}":                                           "cba[1, 3]bc",
		"{{ 'a{}b{1}{2}'.format('x', 'y') }}{{ 'aa'.replace('a', 'b', 1) }}":                                "axby{2}ba",
		"{{ 'a\nb\n\nc' | indent(2) }}|{{ 'a\nb' | indent(1, true) }}":                                      "a\n  b\n\n  c| a\n b",
		"{{ [1, 2] | join(', ') }}{{ [{'a': 1}] | join(attribute='a') }}":                                   "1, 21",
		"{% macro m(a) %}[{{ caller(a) }}]{% endmacro %}{% call(x) m('q' + 'r') %}{{ x }}{% endcall %}":     "[qr]",
		"{{ {'items': 1, 'update': 2}.items }}{% for k, v in {'a': 1}.items() %}{{ k }}{{ v }}{% endfor %}": "1a1",
		"{% set x = [] %}{% set _ = x.append(1) %}{% set _ = x.insert(0, 2) %}{{ x }}":                      "[2, 1]",
	} {
		got, err := renderSource(source, Request{Messages: []Message{User("abc")}})
		require.NoError(t, err, source)
		require.Equal(t, want, got, source)
	}
}
