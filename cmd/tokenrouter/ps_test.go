package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/server/openai"
)

// A model that the server has unloaded is said to be so; of a server that does not report memory the weights are not known.
func TestPsTellsUnloadedFromUnknown(t *testing.T) {
	var out strings.Builder
	require.NoError(t, printPs(&out, "http://a", &openai.RouteList{Policy: "lazy", Models: []openai.ModelState{
		{ID: "loaded", KV: openai.KVState{Capacity: 64}, Memory: &openai.MemoryState{Weights: 2000, KV: 1000}},
		{ID: "idle"},
		{ID: "older", KV: openai.KVState{Capacity: 64}},
	}}))
	lines := strings.Split(out.String(), "\n")
	require.Equal(t, []string{"loaded", "2.0", "kB", "1.0", "kB,", "64", "tokens", "0%"}, strings.Fields(lines[3])[:8])
	require.Equal(t, []string{"idle", "unloaded", "none", "0%"}, strings.Fields(lines[4])[:4])
	require.Equal(t, []string{"older", "?", "64", "tokens", "0%"}, strings.Fields(lines[5])[:5])
}
