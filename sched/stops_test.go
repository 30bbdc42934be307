package sched

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStops(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stops  []string
		pieces []string
		want   []string // text after each piece
		rest   string   // held back at the end, if no stop came
		stop   bool     // whether the last piece completes a stop
	}{
		"none":                        {nil, []string{"a", "b"}, []string{"a", "b"}, "", false},
		"within a piece":              {[]string{"b"}, []string{"abc"}, []string{"a"}, "", true},
		"across pieces":               {[]string{"STOP"}, []string{"say S", "TO", "P now"}, []string{"say ", "", ""}, "", true},
		"false alarm":                 {[]string{"STOP"}, []string{"ST", "ART"}, []string{"", "START"}, "", false},
		"overlapping its own start":   {[]string{"aab"}, []string{"aa", "a", "b"}, []string{"", "a", ""}, "", true},
		"held at the end":             {[]string{"STOP"}, []string{"x ST"}, []string{"x "}, "ST", false},
		"complete before possible":    {[]string{"cd", "bcde"}, []string{"abcd"}, []string{"ab"}, "", true},
		"the earlier one wins":        {[]string{"cd", "bcd"}, []string{"abcd"}, []string{"a"}, "", true},
		"longest possible is held":    {[]string{"ab", "b123"}, []string{"xb1"}, []string{"x"}, "b1", false},
		"characters of several bytes": {[]string{"é!"}, []string{"caf", "é", "!"}, []string{"caf", "", ""}, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stops{strings: c.stops}
			for i, piece := range c.pieces {
				text, stopped := s.add(piece)
				require.Equal(t, c.want[i], text, "after piece %d", i)
				require.Equal(t, c.stop && i == len(c.pieces)-1, stopped)
			}
			require.Equal(t, c.rest, s.rest())
			require.Empty(t, s.rest())
		})
	}
}

// The matcher against the plainest search: after each piece, look for the stops in the whole text.
func FuzzStops(f *testing.F) {
	f.Add("say STOP now", "STOP", "no", uint8(1))
	f.Add("aaab", "aab", "ab", uint8(2))
	f.Add("abcabcabd", "abcabd", "bca", uint8(3))
	f.Fuzz(func(t *testing.T, text, stop1, stop2 string, size uint8) {
		if stop1 == "" || stop2 == "" {
			t.Skip()
		}
		s, sent := stops{strings: []string{stop1, stop2}}, ""
		for at := 0; at < len(text); {
			end := min(len(text), at+int(size%7)+1)
			out, stopped := s.add(text[at:end])
			sent += out
			first := -1
			for _, stop := range s.strings {
				if i := strings.Index(text[:end], stop); i >= 0 && (first < 0 || i < first) {
					first = i
				}
			}
			require.Equal(t, first >= 0, stopped)
			if stopped {
				require.Equal(t, text[:first], sent)
				return
			}
			require.Equal(t, text[:end], sent+s.held, "nothing is lost")
			at = end
		}
		require.Equal(t, text, sent+s.rest())
	})
}
