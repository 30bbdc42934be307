package sched_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tokenrouter/tokenrouter/sched"
)

func TestOneRequestPerTarget(t *testing.T) {
	t.Parallel()
	l := newLab(t, models(), nil)
	defer l.close(t)
	for _, target := range []string{"small", "large", "stitch", "half", "backward", "visit", "mix", "cascade"} {
		r := sched.Request{Target: target, Prompt: []int32{5, 6, 7, 8, 9}, MaxTokens: 40, Trace: true, Top: 2}
		a := l.ask(t, r)
		require.NoError(t, a.err)
		require.Equal(t, l.want(t, r), a.Answer, target)
	}
}
