package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever the text, parsing ends with an Error that carries problems, or with a configuration whose references hold.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", Example, twoModels, "models: &a [*a]", "a: !!binary x", "? [a]\n: b", "{<<: *x}", "models: [{name: a, path: .nan}]",
		"models: |\n  text\n", "%YAML 1.2\n---\nmodels: []\n...\n", "\xff\xfe", "a: 'b", "models:\n- name: a\n  path: x\n  context: 99999999999999999999\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Parse("f.yaml", text)
		if err != nil {
			var e *Error
			require.ErrorAs(t, err, &e)
			require.NotEmpty(t, e.Problems)
			require.NotEmpty(t, err.Error())
			return
		}
		require.NotEmpty(t, c.Models)
		for _, m := range c.Models {
			_, ok := c.Device(m.Device)
			require.True(t, ok)
		}
	})
}
