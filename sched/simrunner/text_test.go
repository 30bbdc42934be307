package simrunner

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDetokenizer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		ids     []int32
		special bool
		want    []string // of each Add, then of Flush
	}{
		{"whole pieces", []int32{16, 17}, false, []string{"a", "b", ""}},
		{"é in two halves", []int32{24, 25}, false, []string{"", "é", ""}},
		{"an emoji in two halves", []int32{26, 27}, false, []string{"", "😀", ""}},
		{"a half that is not followed by its other half", []int32{24, 16}, false, []string{"", "\uFFFDa", ""}},
		{"a half at the end", []int32{30}, false, []string{"d", "\uFFFD"}},
		{"a byte of no character", []int32{29}, false, []string{"\uFFFD", ""}},
		{"special tokens hidden", []int32{1, 16}, false, []string{"", "a", ""}},
		{"special tokens shown", []int32{1, 16}, true, []string{"<|1|>", "a", ""}},
	} {
		d := Text{Special: 4}.NewDetokenizer(c.special)
		for i, id := range c.ids {
			require.Equal(t, c.want[i], d.Add(id), "%s, token %d", c.name, i)
		}
		require.Equal(t, c.want[len(c.ids)], d.Flush(), c.name)
	}
}
