package report

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSettingNamesNoDirectory(t *testing.T) {
	t.Parallel()
	s := Setting("tokenrouter 0.1.0, cpu: avx2 (/home/somebody/build/native/libtokenrouter.so, development build, ABI 5)")
	require.Equal(t, "tokenrouter 0.1.0, cpu: avx2 (libtokenrouter.so, development build, ABI 5)", s.Library)
	require.Positive(t, s.Cores)
}
