package config

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]Size{
		"0B": 0, "17B": 17, "2KiB": 2048, "2KB": 2000, "1.5MiB": 1572864, "3MB": 3_000_000,
		"1GiB": 1 << 30, "1 GiB": 1 << 30, "0.5GB": 500_000_000,
	} {
		got, err := ParseSize(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "B", "12", "GiB", "-1B", "1.2.3B", "1e3B", "0x1B", "1  B", "NaNB", "InfB", "1TiB", "1gib", "8589934592GiB"} {
		_, err := ParseSize(text)
		require.Error(t, err, text)
	}
}

func TestSizeString(t *testing.T) {
	for text, size := range map[string]Size{"0B": 0, "1000B": 1000, "2KiB": 2048, "1536MiB": 3 << 29, "2GiB": 2 << 30} {
		require.Equal(t, text, size.String())
		back, err := ParseSize(size.String())
		require.NoError(t, err)
		require.Equal(t, size, back)
	}
}

func TestDuration(t *testing.T) {
	var d Duration
	require.NoError(t, d.UnmarshalText([]byte("1.5ms")))
	require.Equal(t, Duration(1500*time.Microsecond), d)
	require.Equal(t, "1.5ms", d.String())
	require.Error(t, d.UnmarshalText([]byte("-1s")))
	require.Error(t, d.UnmarshalText([]byte("soon")))
}

func TestAuto(t *testing.T) {
	t.Parallel()
	parse := func(batching string) (Batching, error) {
		c, err := Parse("", []byte("models: [{name: a, path: a}, {name: b, path: b}]\nbatching: "+batching))
		if err != nil {
			return Batching{}, err
		}
		return c.Batching, nil
	}
	for text, want := range map[string]Thresholds{
		"{}": {}, "{threshold: auto}": {}, "{threshold: {a: 3, b: auto}}": {"a": 3, "b": Auto},
	} {
		b, err := parse(text)
		require.NoError(t, err)
		require.Equal(t, want, b.Threshold, text)
	}
	b, err := parse("{max_wait: auto}")
	require.NoError(t, err)
	require.Equal(t, "auto", b.MaxWait.String())
	b, err = parse("{max_wait: 20ms}")
	require.NoError(t, err)
	require.Equal(t, "20ms", b.MaxWait.String())
	for text, want := range map[string]string{
		"{threshold: never}":      `batching.threshold: "never" is not auto, or a mapping from models to numbers`,
		"{threshold: {a: often}}": `batching.threshold.a: "often" is not auto`,
		"{threshold: 3}":          `found number`,
		"{max_wait: never}":       `"never"`,
		"{order: small}":          `is not one of large-first, small-first`,
	} {
		_, err := parse(text)
		require.ErrorContains(t, err, want, text)
	}
}
