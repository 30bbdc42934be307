package simulate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const models = "models: [{name: a, latency: 2ms}, {name: b, latency: 8ms}]\n"

func TestParse(t *testing.T) {
	t.Parallel()
	s, err := Parse([]byte(models + "requests: 4\nrouting: {share: 0.2}\nwarmup: 3s\n"))
	require.NoError(t, err)
	require.Equal(t, 3*time.Second, time.Duration(s.Warmup))
	require.Equal(t, time.Minute, time.Duration(s.Duration))
	require.Equal(t, []Model{{"a", "a", "2ms"}, {"b", "b", "8ms"}}, s.Models)
	system, err := s.System()
	require.NoError(t, err)
	require.False(t, system.Shared)

	for text, want := range map[string]string{
		"requests: 0":          "requests is 0",
		models + "requests: 4": "give share",
		models + "requests: 4\nrouting: {share: 1.5}":                                               "share is 1.5",
		models + "requests: 4\nrouting: {weights: [0.5]}":                                           "1 weights for 2 models",
		models + "requests: 4\nrouting: {weights: [0.5, 0.6]}":                                      "sum to 1.1",
		models + "requests: 4\nrouting: {share: 0.1}\nspeed: 3":                                     "unknown field",
		models + "requests: 4\nrouting: {share: 0.1}\nduration: 3":                                  "is no time",
		models + "requests: 4\nrouting: {share: 0.1}\njitter: 2":                                    "jitter is 2",
		models + "requests: 4\nrouting: {share: 0.1}\ntokens: -1":                                   "answers of -1 tokens",
		"models: [{latency: 2ms}]\nrequests: 1":                                                     `the name "" is empty`,
		"models: [{name: a, latency: soon}]\nrequests: 1":                                           `"soon" is no time`,
		models + "requests: 4\nrouting: {share: 0.1}\nbatching: {policy: no}":                       `policy is "no"`,
		models + "requests: 4\nrouting: {share: 0.1}\nbatching: {threshold: {c: 1}}":                `no model "c"`,
		models + "requests: 4\nrouting: {share: 0.1}\nchanges: [{at: 2s, slower: {c: 1}}]":          `"c" by 1`,
		models + "requests: 4\nrouting: {share: 0.1}\nchanges: [{at: 2s}, {at: 1s}]":                "before the one in front",
		models + "requests: 4\nrouting: {share: 0.1}\nchanges: [{at: 2s, routing: {weights: [1]}}]": "changes[0].routing",
		"models: !0000 000000000000000000000\nA: 0\nB: 00000":                                       "YAML that cannot be read", // the library panics
	} {
		_, err := Parse([]byte(text))
		require.ErrorContains(t, err, want, text)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(models + "requests: 4\nrouting: {share: 0.2}\n"))
	f.Add([]byte("models: [{name: a, latency: '1:2ms 4:3ms'}]\nrequests: 1\nchanges: [{at: 1s, slower: {a: 2}}]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse(text)
		if err == nil && s.Requests < 1 {
			t.Fatalf("accepted %q", text)
		}
	})
}

// The same scenario gives the same run.
func TestRunsAreRepeatable(t *testing.T) {
	t.Parallel()
	run := func() *Report { return simulate(t, gpu(8, 0.2)) }
	first := run()
	require.Equal(t, first, run())
}
