package sched

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The moves of the design, and no other: waiting -> running -> waiting | pending | finished; pending -> waiting |
// finished; and waiting -> finished, since an owner may end a request at any moment. A request that another model begins is
// pending from the start.
func TestMoves(t *testing.T) {
	t.Parallel()
	allowed := map[[2]State]bool{
		{Fresh, Waiting}: true, {Fresh, Pending}: true, {Waiting, Running}: true, {Waiting, Finished}: true,
		{Running, Waiting}: true, {Running, Pending}: true, {Running, Finished}: true,
		{Pending, Waiting}: true, {Pending, Finished}: true,
	}
	for from := Fresh; from <= Finished+1; from++ {
		for to := Fresh; to <= Finished+1; to++ {
			got, err := from.move(to)
			if allowed[[2]State{from, to}] {
				require.NoError(t, err, "%v to %v", from, to)
				require.Equal(t, to, got)
				continue
			}
			require.Error(t, err, "%v to %v", from, to)
			require.Equal(t, from, got, "a refused move changes nothing")
		}
	}
	_, err := Pending.move(Running)
	require.EqualError(t, err, "illegal move of a request from pending to running")
}

// An illegal move at a subserver is refused, shown by Snapshot, told to the observer and returned by Close.
func TestIllegalMoveIsAFault(t *testing.T) {
	t.Parallel()
	var faults []error
	e := newTestEngine(t, &Observer{Fault: func(model string, err error) { faults = append(faults, err) }})
	s := e.subservers[0]
	s.mu.Lock()
	l := s.take("r", 1, &Spec{Models: []string{"m"}, Prompt: 1}, 0, noRole)
	l.append(5)
	require.False(t, s.move(l, Running))
	require.Equal(t, Fresh, l.state)
	s.forget(l)
	s.mu.Unlock()

	const want = `request "r": illegal move of a request from fresh to running`
	require.Len(t, faults, 1)
	require.EqualError(t, faults[0], want)
	require.EqualError(t, e.Snapshot().Fault, `model "m": `+want)
	require.ErrorContains(t, e.Close(t.Context()), want)
}

// When a subserver has nothing to do it audits its books: here a page is lost.
func TestIdleAuditFindsALostPage(t *testing.T) {
	t.Parallel()
	found := make(chan error, 1)
	e := newTestEngine(t, &Observer{Fault: func(model string, err error) {
		select {
		case found <- err:
		default:
		}
	}})
	s := e.subservers[0]
	s.mu.Lock()
	require.NoError(t, s.pool.Reserve(s.pool.New(), 1))
	s.mu.Unlock()
	stream, err := e.Submit(t.Context(), Request{Target: "m", Prompt: []int32{1}, MaxTokens: 1})
	require.NoError(t, err)
	for {
		if event, err := stream.Next(t.Context()); err != nil || event.Finish != "" {
			break
		}
	}
	const want = "1 of 8 KV pages are in use without a request"
	require.EqualError(t, <-found, want)
	require.ErrorContains(t, e.Close(t.Context()), want)
}
