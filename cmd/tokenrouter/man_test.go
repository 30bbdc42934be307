package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMan(t *testing.T) {
	status, out, aside := shell(t, "", "man")
	require.Zero(t, status, aside)
	for _, c := range newRootCommand().Commands() {
		if c.Hidden {
			require.NotContains(t, out, ".SS tokenrouter "+c.Name()+"\n")
			continue
		}
		require.Contains(t, out, ".SS tokenrouter "+c.Name(), "every command is in it")
	}
	require.Contains(t, out, `\fB\-\-large\-share\fR`)
	require.Equal(t, `\&.a\en`+"\n"+`\&'b \-`, roff(".a\\n\n'b -"))
	if man, err := exec.LookPath("man"); err == nil { // its own check, where there is one
		cmd := exec.Command(man, "--warnings", "-l", "-")
		cmd.Stdin = strings.NewReader(out)
		text, err := cmd.CombinedOutput()
		require.NoError(t, err)
		require.NotContains(t, string(text), "warning:")
	}
}
