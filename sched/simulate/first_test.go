package simulate

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/sched"
)

// First tokens wait for no threshold: under load, with requests that come and go, the median time to the first token is that of
// eager batching, and the 95th percentile no more than the longest wait above it.
func TestFirstTokensDoNotWait(t *testing.T) {
	t.Parallel()
	if racing {
		t.Skip("long, and nothing runs in parallel")
	}
	const wait = 100 * time.Millisecond
	for _, n := range []int{4, 16} {
		for _, shared := range []bool{true, false} {
			t.Run(fmt.Sprintf("N=%d shared=%t", n, shared), func(t *testing.T) {
				t.Parallel()
				run := func(policy sched.Policy) *Report {
					s := scenario(n, shared, Routing{Share: ptr(0.2)}, "2ms+0.02ms", "8ms+0.02ms")
					s.Prompt, s.Tokens, s.Duration, s.Warmup = 30, 100, Duration(60*time.Second), Duration(5*time.Second)
					s.Batching.Policy, s.Batching.MaxWait = policy, Duration(wait)
					return simulate(t, s)
				}
				lazy, eager := run(sched.Lazy), run(sched.Eager)
				t.Logf("B=%d: %.2f and %.2f ms, eager %.2f and %.2f; %d and %d answers", lazy.Models[1].Threshold, 1000*lazy.Median,
					1000*lazy.Tail, 1000*eager.Median, 1000*eager.Tail, lazy.Answers, eager.Answers)
				require.Greater(t, lazy.Answers, 300)
				require.LessOrEqual(t, lazy.Median, eager.Median*1.01) // the noise of two runs
				require.LessOrEqual(t, lazy.Tail, eager.Tail+wait.Seconds())
			})
		}
	}
}
