package throughput

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseLatency(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{ // of a step of 2 requests with 10 rows
		"8ms": 0.008, "8ms+0.02ms": 0.0082, " 8 ms + 20us ": 0.0082, "1:2ms 19:20ms": 0.011, "0.5s": 0.5, "0s+1ms": 0.01,
	} {
		l, err := ParseLatency(text)
		require.NoError(t, err, text)
		require.InDelta(t, want, l.Step(2, 10), 1e-12, text)
	}
	for text, want := range map[string]string{
		"": "no time", "8": `"8" is no time`, "-8ms": "no time", "8ms+": `"" is no time`, "0ms": "takes 0 s", "x:8ms": "no number of rows",
		"1:8ms 1:9ms": "given twice", "0:8ms": "at 0 rows", "NaNms": "no time", "1e400ms": "no time", "NaN:1ms": "NaN rows",
	} {
		_, err := ParseLatency(text)
		require.ErrorContains(t, err, want, text)
		require.ErrorContains(t, err, "write it as", text)
	}
}

func FuzzParseLatency(f *testing.F) {
	for _, s := range []string{"8ms", "8ms+0.02ms", "1:2ms 19:20ms", "1e9s", "µs"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l, err := ParseLatency(s)
		if err == nil && !(l.Step(1, 1) > 0 && l.Step(3, 30) > 0) {
			t.Fatalf("%q gives steps of %g and %g s", s, l.Step(1, 1), l.Step(3, 30))
		}
	})
}
