package sched_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/sched/simrunner"
)

// What cannot be answered is refused at the door, with the particulars.
func TestSubmitRefuses(t *testing.T) {
	t.Parallel()
	m := models()
	large := m["large"]
	large.MaxContext = 50
	m["large"] = large
	l := newLab(t, m, nil)
	defer l.close(t)
	nan := float32(math.NaN())
	for name, c := range map[string]struct {
		spoil func(*sched.Request)
		is    error
		want  string
	}{
		"target":          {func(r *sched.Request) { r.Target = "none" }, sched.ErrUnknownTarget, `there is no "none"`},
		"no prompt":       {func(r *sched.Request) { r.Prompt = nil }, sched.ErrInvalid, "the prompt has no tokens"},
		"negative id":     {func(r *sched.Request) { r.Prompt = []int32{1, -1} }, sched.ErrInvalid, "prompt token 1 is id -1"},
		"unknown id":      {func(r *sched.Request) { r.Prompt = []int32{500} }, sched.ErrInvalid, `prompt token 0 is id 500, valid in "stitch" are 0 to 499`},
		"too long":        {func(r *sched.Request) { r.Prompt = make([]int32, 50) }, sched.ErrTooLong, `the prompt has 50 tokens and needs room for at least 1 more, the context of "stitch" is 50 tokens`},
		"alternatives":    {func(r *sched.Request) { r.Top = 21 }, sched.ErrInvalid, "21 alternatives per token asked for, 0 to 20 can be had"},
		"empty stop":      {func(r *sched.Request) { r.Stop = []string{"a", ""} }, sched.ErrInvalid, "a stop string is empty"},
		"head":            {func(r *sched.Request) { r.Algorithm = router.CITERName }, sched.ErrInvalid, `algorithm "citer" needs a router head for model "small"`},
		"algorithm":       {func(r *sched.Request) { r.Algorithm = "none" }, sched.ErrInvalid, `unknown routing algorithm "none"`},
		"models":          {func(r *sched.Request) { r.Algorithm = "test-mix" }, sched.ErrInvalid, `"test-mix" takes 3 models`},
		"threshold":       {func(r *sched.Request) { r.Params.Threshold = ptr(2.0) }, sched.ErrInvalid, "from 0 to 1, not 2"},
		"threshold alone": {func(r *sched.Request) { r.Target, r.Params.Threshold = "small", ptr(0.1) }, sched.ErrInvalid, "takes no threshold"},
		"temperature":     {func(r *sched.Request) { r.Sampling.Temperature = -1 }, sched.ErrInvalid, "temperature is -1"},
		"not a number":    {func(r *sched.Request) { r.Sampling.TopP = nan }, sched.ErrInvalid, "top_p is NaN, allowed is 0 to 1"},
		"infinite":        {func(r *sched.Request) { r.Sampling.PresencePenalty = float32(math.Inf(1)) }, sched.ErrInvalid, "presence penalty is +Inf"},
		"top k":           {func(r *sched.Request) { r.Sampling.TopK = -1 }, sched.ErrInvalid, "top_k is -1"},
		"bias lengths":    {func(r *sched.Request) { r.Sampling.BiasIDs = []int32{1} }, sched.ErrInvalid, "1 ids and 0 values"},
		"bias id":         {func(r *sched.Request) { r.Sampling.BiasIDs, r.Sampling.Bias = []int32{500}, []float32{1} }, sched.ErrInvalid, "names id 500"},
		"bias twice":      {func(r *sched.Request) { r.Sampling.BiasIDs, r.Sampling.Bias = []int32{5, 5}, []float32{1, 1} }, sched.ErrInvalid, "names id 5 twice"},
		"bias NaN":        {func(r *sched.Request) { r.Sampling.BiasIDs, r.Sampling.Bias = []int32{5}, []float32{nan} }, sched.ErrInvalid, "not a number"},
	} {
		t.Run(name, func(t *testing.T) {
			r := sched.Request{Target: "stitch", Prompt: []int32{1}}
			c.spoil(&r)
			_, err := l.engine.Submit(context.Background(), r)
			require.ErrorIs(t, err, c.is)
			require.ErrorContains(t, err, c.want)
		})
	}
	require.Zero(t, l.engine.Snapshot().Queue+l.engine.Snapshot().Live)
}

// A prompt that the KV cache could never hold, though the context could.
func TestSubmitRefusesWhatTheCacheCannotHold(t *testing.T) {
	t.Parallel()
	m := models()
	small := m["small"]
	small.Pages, small.MaxContext = 4, 1000
	m["small"] = small
	l := newLab(t, m, nil)
	defer l.close(t)
	_, err := l.engine.Submit(context.Background(), sched.Request{Target: "small", Prompt: make([]int32, 32)})
	require.ErrorIs(t, err, sched.ErrTooLong)
	require.ErrorContains(t, err, `the prompt has 32 tokens and needs room for at least 1 more, the KV cache of "small" holds 32 tokens`)

	// One token less fits, and is answered to the last token that fits.
	a := l.ask(t, sched.Request{Target: "small", Prompt: make([]int32, 31), MaxTokens: 100, IgnoreEnd: true})
	require.Equal(t, sched.FinishLength, a.Finish)
	require.Len(t, a.Tokens, 1)
}

func TestNewEngineRefuses(t *testing.T) {
	t.Parallel()
	script := simrunner.Script{}
	for name, c := range map[string]struct {
		spoil func(*sched.Options)
		want  string
	}{
		"no models":      {func(o *sched.Options) { o.Models = nil }, "no models"},
		"no name":        {func(o *sched.Options) { o.Models[0].Name = "" }, "a model has no name"},
		"same name":      {func(o *sched.Options) { o.Models[1].Name = "a" }, `model "a" is named twice`},
		"no runner":      {func(o *sched.Options) { o.Models[0].Runner = nil }, `model "a" has no runner`},
		"no pages":       {func(o *sched.Options) { o.Models[0].Info.Pages = 0 }, "the KV cache has 0 pages of 8 tokens"},
		"no vocabulary":  {func(o *sched.Options) { o.Models[0].Info.Vocab = 0 }, "the vocabulary has 0 ids"},
		"no context":     {func(o *sched.Options) { o.Models[0].Info.MaxContext = 1 }, "the context is 1 tokens"},
		"threshold":      {func(o *sched.Options) { o.Models[0].Threshold = -2 }, "the batching threshold is -2"},
		"wait":           {func(o *sched.Options) { o.Models[0].MaxWait = -2 }, "the maximal wait is -2ns"},
		"policy":         {func(o *sched.Options) { o.Policy = "hasty" }, `unknown batching policy "hasty"`},
		"batch":          {func(o *sched.Options) { o.MaxBatch = -1 }, "MaxBatch is -1"},
		"queue":          {func(o *sched.Options) { o.MaxQueue = -1 }, "MaxQueue is -1"},
		"tokens":         {func(o *sched.Options) { o.MaxBatch, o.MaxBatchTokens = 9, 8 }, "MaxBatchTokens is 8, less than the 9 requests"},
		"route's name":   {func(o *sched.Options) { o.Routes[0].Name = "a" }, `route "a": a model or a route of this name exists`},
		"nameless route": {func(o *sched.Options) { o.Routes[0].Name = "" }, "a route needs a name"},
		"empty route":    {func(o *sched.Options) { o.Routes[0].Models = nil }, "a route needs models"},
		"unknown model":  {func(o *sched.Options) { o.Routes[0].Models[1] = "c" }, `there is no model "c"`},
		"same model":     {func(o *sched.Options) { o.Routes[0].Models[1] = "a" }, `model "a" is named twice`},
		"algorithm":      {func(o *sched.Options) { o.Routes[0].Algorithm = "none" }, "unknown routing algorithm"},
		"parameters":     {func(o *sched.Options) { o.Routes[0].Params = router.Params{Threshold: ptr(7.0)} }, "from 0 to 1, not 7"},
		"device":         {func(o *sched.Options) { o.Devices = []sched.DeviceOptions{{Name: "d"}, {Name: "d"}} }, `device "d" is named twice`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := sched.Options{
				Models: []sched.ModelOptions{{Name: "a", Runner: script, Info: script.Info()}, {Name: "b", Runner: script, Info: script.Info()}},
				Routes: []sched.RouteOptions{{Name: "r", Algorithm: "r-stitch", Models: []string{"a", "b"}}},
			}
			c.spoil(&o)
			_, err := sched.NewEngine(o)
			require.ErrorContains(t, err, "options of the engine: ")
			require.ErrorContains(t, err, c.want)
		})
	}
}
