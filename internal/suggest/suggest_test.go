package suggest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClosest(t *testing.T) {
	known := []string{"path", "name", "device", "context", "max_tokens", "max_completion_tokens"}
	for _, c := range []struct{ given, want string }{
		{"pth", "path"},                 // one left out
		{"paht", "path"},                // two swapped count as one
		{"Path", "path"},                // case alone
		{"devcie", "device"},            // two swapped
		{"contexts", "context"},         // one too many
		{"max_token", "max_tokens"},     // the nearer of two
		{"maxtokens", "max_tokens"},     // underscore left out
		{"x", ""},                       // nothing shares a character with it
		{"n", ""},                       // shorter than what would have to change
		{"temperature", ""},             // far from all
		{strings.Repeat("p", 4000), ""}, // hostile length
	} {
		require.Equal(t, c.want, Closest(c.given, known), c.given)
	}
	require.Equal(t, "; did you mean path?", Phrase("pth", known))
	require.Empty(t, Phrase("zzzzzz", known))
}

func TestDistance(t *testing.T) {
	// By hand: kitten -> sitten -> sittin -> sitting; "ab" <-> "ba" is one swap.
	require.Equal(t, 3, distance([]rune("kitten"), []rune("sitting")))
	require.Equal(t, 1, distance([]rune("ab"), []rune("ba")))
	require.Equal(t, 3, distance(nil, []rune("abc")))
	require.Equal(t, 0, distance([]rune("ü"), []rune("ü")))
}
