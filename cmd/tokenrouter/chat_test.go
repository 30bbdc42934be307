package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A conversation from a pipe: the second answer depends on the first, until it is forgotten.
func TestConversation(t *testing.T) {
	small, large := tiny(t)
	base := []string{"run", "-i", "--small", small, "--large", large, "--threads", "2", "--max-tokens", "12"}
	talk := func(lines ...string) (answers []string, aside string) {
		status, out, aside := shell(t, strings.Join(lines, "\n")+"\n", base...)
		require.Zero(t, status, aside)
		return strings.Split(strings.TrimSuffix(out, "\n"), "\n"), aside
	}
	alone, _ := talk("the sea")
	twice, _ := talk("the sea", "the sea")
	forgotten, _ := talk("the sea", "/clear", "the sea")
	require.NotEqual(t, twice[:len(alone)], twice[len(alone):], "the conversation so far is part of the prompt")
	require.Equal(t, append(append([]string{}, alone...), alone...), forgotten)
	joined, _ := talk(`the \`, "sea")
	require.NotEqual(t, alone, joined, "a line break is part of the prompt")

	_, aside := talk("/help", "/model", "/threshold 2", "/threshold NaN", "/threshold x", "/threshold", "/threshold 0.5", "/model large", "/model x", "/threshold 0.25",
		"/system be brief", "", "/nothing", "the sea", "/bye", "the sea")
	for _, want := range []string{
		"/clear             forget", "* routed: small, large", "large answers from now on, with its own threshold", "\n" + `/model: there is no "x"; there are: routed, small, large`,
		`/threshold: algorithm "r-stitch": threshold is a normalised entropy, from 0 to 1, not 2`, "from 0 to 1, not NaN",
		`/threshold: "x" is not a number`, `/threshold: algorithm "single" takes no threshold`, "the threshold is 0.5 from now on", "the route's own threshold holds",
		"begins anew with that system message", "there is no command /nothing",
	} {
		require.Contains(t, aside, want)
	}
	require.Equal(t, 1, strings.Count(aside, "tokens/s"), "one answer: /bye ends")
}

// A prompt that is too long is said, and the conversation goes on.
func TestConversationTooLong(t *testing.T) {
	small, large := tiny(t)
	status, out, aside := shell(t, strings.Repeat("a ", 3000)+"\nthe sea\n", "run", "-i", "--small", small, "--large", large, "--threads", "2", "--max-tokens", "3")
	require.Zero(t, status)
	require.Contains(t, aside, "/clear forgets the conversation")
	require.NotEmpty(t, out)
}

func TestRunJSON(t *testing.T) {
	small, large := tiny(t)
	base := []string{"run", "--small", small, "--large", large, "--threads", "2", "--max-tokens", "12", "the sea"}
	_, text, _ := shell(t, "", base...)
	status, out, aside := shell(t, "", append(base, "--json")...)
	require.Zero(t, status, aside)
	var a answerJSON
	require.NoError(t, json.Unmarshal([]byte(out), &a))
	require.Equal(t, strings.TrimSuffix(text, "\n"), a.Answer)
	require.Equal(t, "routed", a.Model)
	require.Equal(t, "r-stitch", a.Algorithm)
	require.Equal(t, "length", a.Finish)
	require.Equal(t, 12, a.Completion)
	require.Equal(t, 12, a.Tokens["small"]+a.Tokens["large"])
	require.Empty(t, aside)
}

func TestRunArguments(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "-i", "a"}, "give no PROMPT with it"},
		{[]string{"run", "-i", "--json"}, "give a PROMPT with it"},
		{[]string{"run", "--smal", "x", "a"}, "unknown flag: --smal; did you mean --small? (tokenrouter run --help lists the flags)"},
		{[]string{"run", "--zzzzzzzz", "a"}, "unknown flag: --zzzzzzzz (tokenrouter run --help"},
	} {
		status, _, aside := shell(t, "", c.args...)
		require.Equal(t, 1, status)
		require.Contains(t, aside, c.want)
	}
}

func TestVersionJSON(t *testing.T) {
	status, out, aside := shell(t, "", "version", "--json")
	require.Zero(t, status, aside)
	var v versionJSON
	require.NoError(t, json.Unmarshal([]byte(out), &v))
	require.Positive(t, v.ABI)
	require.NotEmpty(t, v.ISA)
}

// ctrl-C clears the line, whatever the size of what is read at a time.
func TestCtrlC(t *testing.T) {
	for _, size := range []int{1, 2, 3, 100} {
		k := &keyReader{in: strings.NewReader("ab\x03c\x03\r")}
		var got []byte
		for {
			p := make([]byte, size)
			n, err := k.Read(p)
			got = append(got, p[:n]...)
			if err != nil {
				break
			}
		}
		require.Equal(t, "ab\x05\x15c\x05\x15\r", string(got))
	}
}
