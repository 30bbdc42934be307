package output

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// taken is all of an answer.
type taken struct {
	Reasoning, Content string
	Calls              []Call
}

// take hands a text to a parser in pieces that end at these places.
func take(p *Parser, text string, cuts func() int) (t taken) {
	add := func(deltas []Delta) {
		for _, d := range deltas {
			t.Reasoning += d.Reasoning
			t.Content += d.Content
			if c := d.Call; c != nil {
				if c.Name != "" {
					t.Calls = append(t.Calls, Call{Index: c.Index, Name: c.Name})
				}
				t.Calls[c.Index].Arguments += c.Arguments
			}
		}
	}
	for text != "" {
		n := min(cuts(), len(text))
		add(p.Add(text[:n]))
		text = text[n:]
	}
	add(p.Finish())
	return t
}

var (
	hermes = Style{Calls: Hermes, Reasoning: true}
	llama  = Style{Calls: Llama}
)

func call(index int, name, arguments string) Call { return Call{index, name, arguments} }

// known are the tools of the tests.
var known = []string{"f", "g"}

type example struct {
	style    Style
	thinking Thinking
	tools    bool
	text     string
	want     taken
}

func (e example) names() []string {
	if e.tools {
		return known
	}
	return nil
}

var answers = []example{
	{hermes, Unopened, false, "Hello <world>", taken{Content: "Hello <world>"}},
	{hermes, Unopened, false, "<think>\nhm\n\nso\n</think>\n\nHello\n", taken{Reasoning: "hm\n\nso", Content: "Hello\n"}},
	{hermes, Unopened, false, " \n<think></think>x", taken{Content: "x"}},
	{hermes, Unopened, false, "<thin", taken{Content: "<thin"}},
	{hermes, Unopened, false, "a <think>b</think>", taken{Content: "a <think>b</think>"}},
	{hermes, Opened, false, "hm</thin</think>\nx", taken{Reasoning: "hm</thin", Content: "x"}},
	{hermes, Opened, false, "hm, cut off\n</th", taken{Reasoning: "hm, cut off\n</th"}},
	{hermes, Closed, false, "<think>x", taken{Content: "<think>x"}},
	{hermes, Closed, false, "<tool_call>{}", taken{Content: "<tool_call>{}"}},
	{hermes, Closed, true, "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"}\\\"{\", \"b\": [1, {}]}}\n</tool_call>", taken{Calls: []Call{call(0, "f", `{"a": "}\"{", "b": [1, {}]}`)}}},
	{hermes, Unopened, true, "<think>x</think>\n\nI call.\n<tool_call>\n{\"name\":\"f\",\"arguments\":{}}\n</tool_call>\n<tool_call>\n{\"arguments\": {\"x\":1}, \"name\": \"g\"}\n</tool_call>\n",
		taken{Reasoning: "x", Content: "I call.", Calls: []Call{call(0, "f", "{}"), call(1, "g", `{"x":1}`)}}},
	{hermes, Closed, true, "<tool_call>{\"name\": \"f\", \"arguments\": \"{\\\"a\\\": 1}\"}</tool_call>", taken{Calls: []Call{call(0, "f", `{"a": 1}`)}}},
	{hermes, Closed, true, "<tool_call>{\"name\": \"f\"}</tool_call>", taken{Calls: []Call{call(0, "f", "{}")}}},
	{hermes, Closed, true, "<tool_call>{\"name\": \"f\", \"arguments\": null, \"n\": 1.5}</tool_call> more", taken{Content: "more", Calls: []Call{call(0, "f", "{}")}}},
	{hermes, Closed, true, "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": [1, ", taken{Calls: []Call{call(0, "f", `{"a": [1, `)}}},
	{hermes, Closed, true, "<tool_call>{\"name\": \"f\", oops", taken{Calls: []Call{call(0, "f", "")}}},
	{hermes, Closed, true, "<tool_call> {\"nam", taken{Content: "<tool_call> {\"nam"}},
	{hermes, Closed, true, "a <tool_call>not json</tool_call> b", taken{Content: "a<tool_call>not json</tool_call> b"}},
	{hermes, Closed, true, "<tool_call>{\"name\": 7}</tool_call>", taken{Content: "<tool_call>{\"name\": 7}</tool_call>"}},
	{hermes, Closed, true, "{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n<tool_call>{\"name\": \"g\"}</tool_call>", taken{Calls: []Call{call(0, "f", `{"a": 1}`), call(1, "g", "{}")}}},
	{hermes, Closed, true, "{\"name\": \"Ann\", \"arguments\": {}} <tool_call>{\"name\": \"g\"}</tool_call>", taken{Content: "{\"name\": \"Ann\", \"arguments\": {}}", Calls: []Call{call(0, "g", "{}")}}},
	{hermes, Opened, true, "x</think>\n\n{\"name\": \"g\"}", taken{Reasoning: "x", Calls: []Call{call(0, "g", "{}")}}},
	{llama, Closed, true, "{\"name\": \"Ann\"}", taken{Content: "{\"name\": \"Ann\"}"}},
	{hermes, Closed, true, "1 <2 <tool", taken{Content: "1 <2 <tool"}},
	{llama, Closed, true, "{\"name\": \"f\", \"parameters\": {\"a\": 1}}", taken{Calls: []Call{call(0, "f", `{"a": 1}`)}}},
	{llama, Closed, true, " {\"type\": \"function\", \"name\": \"f\", \"parameters\": {}}; {\"name\": \"g\", \"parameters\": {}}", taken{Calls: []Call{call(0, "f", "{}"), call(1, "g", "{}")}}},
	{llama, Closed, true, "{\"a\": {\"b\": 1}}", taken{Content: "{\"a\": {\"b\": 1}}"}},
	{llama, Closed, true, "The answer is {\"name\": \"f\"}", taken{Content: "The answer is {\"name\": \"f\"}"}},
	{llama, Closed, false, "{\"name\": \"f\"}", taken{Content: "{\"name\": \"f\"}"}},
	{llama, Closed, true, "\n {\"na", taken{Content: "\n {\"na"}},
}

// The same comes out however the text was cut into pieces.
func TestAnswers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i, a := range answers {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			for _, cuts := range []func() int{func() int { return len(a.text) }, func() int { return 1 }, func() int { return 1 + r.IntN(5) }, func() int { return 1 + r.IntN(30) }} {
				p := a.style.Parser(a.thinking, a.names())
				require.Equal(t, a.want, take(p, a.text, cuts), a.text)
				require.Equal(t, len(a.want.Calls) > 0, p.Called())
			}
		})
	}
}

// What is thoughts is known up to where it is certain, marks and the space before them included.
func TestThoughts(t *testing.T) {
	type place struct {
		bytes int
		over  bool
	}
	for _, c := range []struct {
		thinking Thinking
		pieces   []string
		want     []place
	}{
		{Unopened, []string{"\n<th", "ink>a", "b</thi", "nk>c", "d"}, []place{{0, false}, {9, false}, {15, false}, {18, true}, {18, true}}},
		{Unopened, []string{"<th", "at"}, []place{{0, false}, {0, true}}},
		{Opened, []string{"a", "</think>b</think>"}, []place{{1, false}, {9, true}}},
		{Closed, []string{"<think>a</think>"}, []place{{0, true}}},
	} {
		p := hermes.Parser(c.thinking, nil)
		for i, text := range c.pieces {
			p.Add(text)
			bytes, over := p.Thoughts()
			got := place{bytes, over}
			require.Equal(t, c.want[i], got, "%q after %q", c.pieces, text)
		}
	}
}

// Arguments come as they are written.
func TestArgumentsAreStreamed(t *testing.T) {
	p := hermes.Parser(Closed, known)
	require.Empty(t, p.Add("<tool_call>\n{\"name\": \"f"))
	require.Equal(t, []Delta{{Call: &Call{0, "f", ""}}}, p.Add("\", \"arguments\": "))
	require.Equal(t, []Delta{{Call: &Call{0, "", `{"a`}}}, p.Add("{\"a"))
	require.Equal(t, []Delta{{Call: &Call{0, "", `": 1}`}}}, p.Add("\": 1}}\n</tool"))
	require.Empty(t, p.Add("_call>"))
	require.Empty(t, p.Finish())
}

func TestDetect(t *testing.T) {
	for template, want := range map[string]Style{
		"{{ messages }}": {}, "a <tool_call> b": {Calls: Hermes}, "<think> </think> <tool_call>": hermes, "<tool_call><function=x>": {},
		`{"name": function name, "parameters": dictionary of argument name and its value}`: llama,
	} {
		require.Equal(t, want, Detect(template), template)
	}
	require.Equal(t, Opened, hermes.Thinking("<|im_start|>assistant\n<think>\n"))
	require.Equal(t, Closed, hermes.Thinking("<think>\n\n</think>\n\n"))
	require.Equal(t, Unopened, hermes.Thinking("<|im_start|>assistant\n"))
	require.Equal(t, Closed, llama.Thinking("<think>"))
}

// Nothing is lost or made up, whatever the text and its pieces.
func FuzzParser(f *testing.F) {
	for _, a := range answers {
		f.Add(a.text, uint8(a.style.Calls), uint8(a.thinking), uint8(3))
	}
	f.Fuzz(func(t *testing.T, text string, format, thinking, step uint8) {
		s := Style{Calls: Format(format % 3), Reasoning: true}
		think := Thinking(thinking % 3)
		whole := take(s.Parser(think, known), text, func() int { return len(text) })
		pieces := take(s.Parser(think, known), text, func() int { return 1 + int(step)%7 })
		require.Equal(t, whole, pieces)
		plain := take(Style{}.Parser(Closed, nil), text, func() int { return 1 })
		require.Equal(t, text, plain.Content)
		for _, part := range []string{whole.Reasoning, whole.Content} {
			for _, word := range strings.Fields(part) {
				require.Contains(t, text, word[:1])
			}
		}
	})
}
