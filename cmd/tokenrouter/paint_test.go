package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/api"
)

func piece(model int, text string) sched.Token {
	return sched.Token{Text: text, Info: sched.TokenInfo{Model: model}}
}

const (
	small = "\x1b[36m" // the colour of the entry
	large = "\x1b[33m"
	off   = "\x1b[0m"
)

func TestPainter(t *testing.T) {
	special := piece(1, "<|im_end|>")
	for _, c := range []struct {
		name   string
		events []sched.Event
		want   string
	}{
		{"colours change with the model only", []sched.Event{
			{Text: "ab", Tokens: []sched.Token{piece(0, "a"), piece(0, "b")}},
			{Text: "cd", Tokens: []sched.Token{piece(1, "c"), piece(0, "d")}},
		}, small + "ab" + large + "c" + small + "d" + off},
		{"a character has the colour of the model that completed it", []sched.Event{
			{Text: "é!", Tokens: []sched.Token{piece(0, "\xc3"), piece(1, "\xa9"), piece(0, "!")}},
		}, large + "é" + small + "!" + off},
		{"a token that ends one character and begins the next", []sched.Event{
			{Text: "éé", Tokens: []sched.Token{piece(0, "\xc3"), piece(1, "\xa9\xc3"), piece(0, "\xa9")}},
		}, large + "é" + small + "é" + off},
		{"special tokens do not show", []sched.Event{
			{Text: "a", Tokens: []sched.Token{piece(0, "a")}},
			{Tokens: []sched.Token{special}, Finish: sched.FinishStop},
		}, small + "a" + off},
		{"text before a stop string", []sched.Event{
			{Text: "a", Tokens: []sched.Token{piece(1, "a STOP")}, Finish: sched.FinishStop},
		}, large + "a" + off},
		{"bytes that are no text", []sched.Event{
			{Text: "\ufffda", Tokens: []sched.Token{piece(0, "\xff"), piece(1, "a")}},
		}, "\ufffda"},
		{"control characters are shown, not sent", []sched.Event{
			{Text: "a\x1b[2J\tb\n\x07\u009b", Tokens: []sched.Token{piece(0, "a\x1b[2J\tb\n\x07\u009b")}},
		}, small + "a\\x1b[2J\tb\n\\x07\\x9b" + off},
		{"nothing", []sched.Event{{Finish: sched.FinishStop}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			p := newPainter(&b, true)
			for _, e := range c.events {
				require.NoError(t, p.event(e))
			}
			require.NoError(t, p.end())
			if strings.Contains(c.want, "\x1b") {
				require.Equal(t, c.want, b.String())
			}
			require.Equal(t, bare(c.want), bare(b.String()))
		})
	}
}

// bare takes the colours off.
func bare(s string) string { return strings.NewReplacer(small, "", large, "", off, "").Replace(s) }

// Whatever the tokens, the text of the events comes out whole and in order.
func TestPainterLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var colourful, plain, want strings.Builder
		p, q := newPainter(&colourful, true), newPainter(&plain, false)
		for range rapid.IntRange(1, 5).Draw(t, "events") {
			e := sched.Event{Text: rapid.StringOf(rapid.RuneFrom([]rune("aé😀\ufffd\n"))).Draw(t, "text")}
			for range rapid.IntRange(0, 4).Draw(t, "tokens") {
				text := rapid.SampledFrom([]string{"a", "é", "\xc3", "\xa9", "\xf0\x9f", "\x98\x80", "<end>", "", "\xff", "aé", "\n"}).Draw(t, "token")
				e.Tokens = append(e.Tokens, piece(rapid.IntRange(0, 1).Draw(t, "model"), text))
			}
			want.WriteString(e.Text)
			if p.event(e) != nil || q.event(e) != nil {
				t.Fatal("writing to memory failed")
			}
		}
		if p.end() != nil || bare(colourful.String()) != want.String() || plain.String() != want.String() {
			t.Fatalf("%q became %q and %q", want.String(), colourful.String(), plain.String())
		}
	})
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestPainterReportsErrors(t *testing.T) {
	p := newPainter(full{}, true)
	require.ErrorContains(t, p.event(sched.Event{Text: "a", Tokens: []sched.Token{piece(0, "a")}}), "disk full")
	require.ErrorContains(t, p.end(), "disk full")
}

func TestLegendAndAccount(t *testing.T) {
	require.Equal(t, small+"■ s"+off+"  "+large+"■ l"+off, legend([]string{"s", "l"}))
	pair := &api.Target{Models: []string{"s", "l"}}
	sum := sched.Summary{Completion: 41, Tokens: map[string]int{"s": 31, "l": 10}, Handoffs: 1, Discarded: 5}
	// 40 tokens came within the 2 seconds that began with the first; 31 of 41 are 75.6 percent.
	require.Equal(t, "41 tokens in 2.0 s, 20.0 tokens/s: s 31 (76%), l 10 (24%); 1 handoff, 5 tokens discarded", account(pair, sum, 2))
	require.Equal(t, "1 token in 0.0 s", account(&api.Target{Models: []string{"s"}}, sched.Summary{Completion: 1, Tokens: map[string]int{"s": 1}}, 0))
	require.Equal(t, "0 tokens in 0.0 s: s 0 (0%), l 0 (0%); 0 handoffs, 0 tokens discarded", account(pair, sched.Summary{}, 0))
}
