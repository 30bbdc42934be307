package router

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSpeculativeCheck(t *testing.T) {
	t.Parallel()
	half := 0.5
	draft := func(n int) Params { return Params{Draft: &n} }
	for name, c := range map[string]struct {
		models        int
		params        Params
		want, culprit string // of the error, and the parameter at fault
	}{
		"default":      {2, Params{}, "", ""},
		"least":        {2, draft(1), "", ""},
		"most":         {2, draft(16), "", ""},
		"none":         {2, draft(0), "from 1 to 16, not 0", "draft"},
		"too many":     {2, draft(17), "from 1 to 16, not 17", "draft"},
		"threshold":    {2, Params{Threshold: &half}, "takes no threshold (got 0.5): the large model decides about every token", "threshold"},
		"large share":  {2, Params{LargeShare: &half}, "compares no score", "large_share"},
		"weights":      {2, Params{Weights: []float64{1, 1}}, "takes no weights", "weights"},
		"strategy":     {2, Params{Strategy: "x"}, `has no strategies (got "x")`, "strategy"},
		"one model":    {1, Params{}, "routes between 2 models, not 1", ""},
		"three models": {3, Params{}, "routes between 2 models, not 3", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := Check(Speculative{}, c.models, c.params)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
			require.Equal(t, c.culprit, Culprit(Speculative{}, c.models, c.params))
		})
	}
}

// Algorithms that draft nothing refuse a number of drafts.
func TestDraftIsForThoseThatDraft(t *testing.T) {
	t.Parallel()
	n := 3
	for _, name := range Names() {
		a := lookup(t, name)
		models := 2
		if name == SingleName {
			models = 1
		}
		err := Check(a, models, Params{Draft: &n})
		if name == SpeculativeName {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, "draft (3) cannot be had", name)
		require.Equal(t, "draft", Culprit(a, models, Params{Draft: &n}))
	}
	require.Equal(t, Params{Draft: &n}, Params{}.Override(Params{Draft: &n}))
	require.Equal(t, Params{Draft: &n}, Params{Draft: &n}.Override(Params{}))
}

// The small model hands off when it has drafted as many as it should, when its token ends the answer, and when the large model would
// fill up the answer with the token that it adds.
func TestSpeculativeSmall(t *testing.T) {
	t.Parallel()
	three := 3
	role := Speculative{}.Role(0, 2, Params{Draft: &three})
	require.True(t, role.Keep && role.Draft && role.AsAlone)
	require.Nil(t, role.Score)
	require.Equal(t, 1, role.Start(View{Models: 2, Tokens: []int32{1}, Prompt: 1}))
	for name, c := range map[string]struct {
		view View
		want Destination
	}{
		"first":             {View{Left: 9}, Stay},
		"second":            {View{Left: 9, Draft: []int32{1}}, Stay},
		"third":             {View{Left: 9, Draft: []int32{1, 2}}, 1},
		"the end":           {View{Left: 9, Ends: true}, 1},
		"one left after it": {View{Left: 2}, 1},
		"two left after it": {View{Left: 3}, Stay},
	} {
		require.Equal(t, c.want, role.Route(c.view), name)
	}
	standard := Speculative{}.Role(0, 2, Params{})
	require.Equal(t, Stay, standard.Route(View{Left: 9, Draft: make([]int32, SpeculativeDraft-2)}))
	require.Equal(t, PeerOf(0, 1), standard.Route(View{Left: 9, Draft: make([]int32, SpeculativeDraft-1)}))
}

// The large model goes on while it writes what was drafted, and hands back with the first token that was not; a last token that is
// left it writes itself.
func TestSpeculativeLarge(t *testing.T) {
	t.Parallel()
	role := Speculative{}.Role(1, 2, Params{})
	require.True(t, role.Keep && role.AsAlone)
	require.False(t, role.Draft)
	for name, c := range map[string]struct {
		view View
		want Destination
	}{
		"right":          {View{Model: 1, Left: 9, Draft: []int32{7, 8}, Row: Row{Token: 7}}, Stay},
		"wrong":          {View{Model: 1, Left: 9, Draft: []int32{7, 8}, Row: Row{Token: 8}}, 1},
		"after the last": {View{Model: 1, Left: 9, Row: Row{Token: 7}}, 1},
		"one left":       {View{Model: 1, Left: 2, Draft: []int32{7}, Row: Row{Token: 9}}, Stay},
	} {
		require.Equal(t, c.want, role.Route(c.view), name)
	}
}
