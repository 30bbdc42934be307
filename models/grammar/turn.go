package grammar

import (
	"context"
	"runtime"
)

// turns are those who may compile at a time: so few that the processors remain for those whose answers are being written.
var turns = make(chan struct{}, max(1, runtime.NumCPU()/4))

// Turn waits for one's turn to compile, which ends with done. The error is the context's, whose end is worth waiting for no longer.
func Turn(ctx context.Context) (done func(), err error) {
	select {
	case turns <- struct{}{}:
		return func() { <-turns }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
