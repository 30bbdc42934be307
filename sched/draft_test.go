package sched_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
)

var drafting = []string{"drafts", "drafts-of-1", "guess", "doubt"}

// Speculative decoding gives the answer of the large model alone, token by token, log-probabilities included: greedy and seeded,
// with any sampling parameter, for any number of drafts, one request at a time and sixteen, under every policy, with room for all
// and with hardly any.
func TestSpeculativeIsTheLargeModelAlone(t *testing.T) {
	t.Parallel()
	for _, policy := range sched.Policies() {
		for _, n := range []int{1, 16} {
			t.Run(fmt.Sprintf("%s, %d clients", policy, n), func(t *testing.T) {
				t.Parallel()
				m := models()
				for name, alike := range m { // so that the route has the ids of each model
					alike.Vocab, alike.EndIDs = 500, []int32{2}
					if n > 1 {
						alike.Pages = 200 / alike.PageTokens
					}
					m[name] = alike
				}
				l := newLab(t, m, func(o *sched.Options) { o.Policy, o.PrefillChunk = policy, 16 })
				defer l.close(t)
				var jobs, alone []job
				for i := range 64 {
					r := sched.Request{Target: "drafts", Prompt: numbers(i, 3+i%30), MaxTokens: 1 + i, LogProbs: true, Top: 2}
					if i%2 == 1 {
						r.Sampling = sched.Sampling{Temperature: 0.8, Seed: uint64(i), TopK: int32(i % 3), TopP: 0.9, Choice: uint32(i % 5)}
					}
					if i%4 >= 2 {
						r.Sampling.FrequencyPenalty, r.Sampling.RepetitionPenalty = 0.4, 1.2
						r.Params.Draft = ptr(1 + i%16)
					}
					if i%8 == 7 {
						r.Stop = []string{"ab", "b c"}
					}
					jobs = append(jobs, job{request: r})
					r.Target, r.Params = "large", router.Params{}
					alone = append(alone, job{request: r})
				}
				_, err := l.drive(jobs, n)
				require.NoError(t, err)
				_, err = l.drive(alone, n)
				require.NoError(t, err)
				drafted, accepted, written := 0, 0, 0
				for i := range jobs {
					got, want := jobs[i].answer, alone[i].answer
					require.Equal(t, want.Tokens, got.Tokens)
					require.Equal(t, want.Text, got.Text)
					require.Equal(t, want.Finish, got.Finish)
					for k, info := range got.Infos {
						require.Equal(t, 1, info.Model, "the large model's word")
						require.Equal(t, want.Infos[k].LogProb, info.LogProb)
						require.Equal(t, want.Infos[k].TopIDs, info.TopIDs)
						require.Equal(t, want.Infos[k].TopLogProbs, info.TopLogProbs)
					}
					require.Equal(t, len(got.Tokens), got.summary.Tokens["large"])
					require.Equal(t, got.Drafted, got.Accepted+got.Discarded)
					drafted, accepted, written = drafted+got.Drafted, accepted+got.Accepted, written+len(got.Tokens)
				}
				t.Logf("%d tokens, %d drafted, %d accepted", written, drafted, accepted)
				require.Greater(t, accepted, written/2)
				require.Greater(t, drafted-accepted, 100)
			})
		}
	}
}

// As fast as it can be: where every draft is right, each visit of the large model writes the drafts and one token more, in one step
// with a row at each.
func TestDraftsAreJudgedInOneStep(t *testing.T) {
	t.Parallel()
	m := models()
	for name, alike := range m {
		alike.Seed, alike.EndIDs, alike.Vocab = 1, nil, 500
		m[name] = alike
	}
	l := newLab(t, m, nil)
	a := l.ask(t, sched.Request{Target: "drafts", Prompt: []int32{4, 5, 6}, MaxTokens: 21})
	l.close(t)
	require.Len(t, a.Tokens, 21)
	require.Equal(t, []int{16, 16, 0}, []int{a.Drafted, a.Accepted, a.Discarded})
	require.Equal(t, 8, a.Handoffs, "each of four spans takes two; the last one ends the answer, and the first token was the large model's")
	type step struct{ rows, resume, decode, committed, drafted, accepted int }
	var large []step
	small := 0
	for _, b := range l.journal.batches {
		if b.Model == "small" {
			small += b.Drafted
			continue
		}
		large = append(large, step{b.Rows, b.Resume, b.Decode, b.Committed, b.Drafted, b.Accepted})
	}
	require.Equal(t, 16, small)
	span := step{rows: 5, resume: 5, committed: 5, accepted: 4}
	require.Equal(t, []step{{rows: 1, committed: 1}, span, span, span, span}, large)
}

// Requests that draft, and whatever else there is, under eviction, in small chunks, and on runners that take few rows.
func TestExactDrafts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		policy             sched.Policy
		chunk, pages, rows int
		own                bool
	}{
		{sched.Eager, 256, 20, 0, true}, {sched.Lazy, 3, 1, 0, false}, {sched.Eager, 1, 2, 4, true}, {sched.Lazy, 256, 3, 4, true},
		{sched.StepSync, 2, 2, 7, false}, {sched.ModelSync, 5, 1, 5, false},
	} {
		t.Run(fmt.Sprintf("%s, chunk %d, pages %d, rows %d", c.policy, c.chunk, c.pages, c.rows), func(t *testing.T) {
			t.Parallel()
			m := models()
			for name, tight := range m {
				tight.Pages = c.pages * (125 + tight.PageTokens) / tight.PageTokens
				m[name] = tight
			}
			l := newLab(t, m, func(o *sched.Options) {
				o.Policy, o.PrefillChunk, o.MaxBatch, o.MaxBatchTokens = c.policy, c.chunk, 4, 40
				for i := range o.Models {
					o.Models[i].Threshold, o.Models[i].MaxWait = 3, time.Millisecond
					o.Models[i].Info.MaxRows = c.rows
					if c.own {
						o.Models[i].Device = o.Models[i].Name
					}
				}
			})
			_, err := l.run(shape{seed: uint64(c.chunk), requests: 150, concurrency: 12, targets: drafting, prompt: 60, tokens: 60,
				cancels: 0.1, patience: 20 * time.Millisecond})
			require.NoError(t, err)
			l.close(t)
			drafted, accepted, rejected := 0, 0, 0
			for _, b := range l.journal.batches {
				drafted, accepted, rejected = drafted+b.Drafted, accepted+b.Accepted, rejected+b.Rejected
				require.True(t, c.rows == 0 || b.Rows <= c.rows, "%d rows", b.Rows)
			}
			t.Logf("%d drafted, %d accepted, %d rejected", drafted, accepted, rejected)
			require.Greater(t, accepted, 500)
			require.Greater(t, rejected, 200)
			require.LessOrEqual(t, accepted+rejected, drafted)
		})
	}
}

// What cannot be is refused, or costs the request that it is about.
func TestDraftErrors(t *testing.T) {
	t.Parallel()
	l := newLab(t, models(), nil)
	defer l.close(t)
	l.engine.SetTransport(func(m sched.Message, deliver func(sched.Message)) {
		switch m.Request {
		case "outside":
			for i := range m.Draft {
				m.Draft[i].Token = 500
			}
		case "long":
			if len(m.Draft) > 0 {
				m.Draft = make([]sched.Discard, 60)
			}
		}
		deliver(m)
	})
	_, err := l.engine.Submit(t.Context(), sched.Request{Target: "visit", Prompt: []int32{1}, Algorithm: "test-no-keep"})
	require.ErrorIs(t, err, sched.ErrInvalid)
	require.ErrorContains(t, err, `"test-no-keep": model 0 drafts, and does not keep what it samples`)
	_, err = l.engine.Submit(t.Context(), sched.Request{Target: "stitch", Prompt: []int32{1}, Params: router.Params{Draft: ptr(3)}})
	require.ErrorContains(t, err, `"r-stitch" drafts no tokens, so draft (3) cannot be had`)
	a := l.ask(t, sched.Request{Target: "visit", Prompt: []int32{1}, Algorithm: "test-endless", MaxTokens: 5})
	require.Equal(t, sched.FinishError, a.Finish)
	require.ErrorContains(t, a.err, `algorithm "test-endless" drafts on at model 0 after a token that ends the answer`)

	for id, want := range map[string]string{
		"outside": `model "large": draft 500 from "small" is outside the 500 ids of the route`,
		"long":    `model "large": drafts from "small" make the sequence 62 tokens long, its end is at 41`,
	} {
		a := l.ask(t, sched.Request{ID: id, Target: "drafts", Prompt: []int32{1}, MaxTokens: 40, IgnoreEnd: true})
		require.Equal(t, sched.FinishError, a.Finish)
		require.ErrorContains(t, a.err, want)
	}
}
