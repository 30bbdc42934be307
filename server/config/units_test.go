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
