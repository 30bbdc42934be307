package sched

import (
	"fmt"
	"slices"

	"github.com/tokenrouter/tokenrouter/router"
)

// target is what a request can name: a route, or a model that is served alone.
type target struct {
	name      string
	algorithm string
	params    router.Params
	models    []string
	entry     *subserver
	text      Text
	grammars  Grammars
	vocab     int     // ids valid in all models
	end       []int32 // union of the models' end-of-sequence ids
	context   int     // shortest context of the models, in tokens
	shares    shares
	capacity  int  // smallest KV cache of the models, in tokens
	head      Head // of the entry, or nil
}

// newTarget puts together what the models of a route have in common.
func newTarget(o RouteOptions, models []*ModelOptions, entry *subserver) *target {
	t := &target{name: o.Name, algorithm: o.Algorithm, params: o.Params, models: slices.Clone(o.Models), head: o.Head,
		entry: entry, text: models[0].Text, grammars: models[0].Grammars,
		vocab: models[0].Info.Vocab, context: models[0].Info.MaxContext, capacity: models[0].Info.Capacity()}
	for _, m := range models {
		t.vocab = min(t.vocab, m.Info.Vocab)
		t.context = min(t.context, m.Info.MaxContext)
		t.capacity = min(t.capacity, m.Info.Capacity())
	}
	for _, m := range models {
		for _, id := range m.Info.EndIDs {
			if id >= 0 && int(id) < t.vocab && !slices.Contains(t.end, id) {
				t.end = append(t.end, id)
			}
		}
	}
	return t
}

// limit is the longest sequence that the target can serve.
func (t *target) limit() int { return min(t.context, t.capacity) }

// algorithmFor looks an algorithm up and checks that it runs this route with these parameters.
func (t *target) algorithmFor(name string, p router.Params) (router.Algorithm, error) {
	a, err := router.Lookup(name)
	if err != nil {
		return nil, err
	}
	if err := router.Check(a, len(t.models), p); err != nil {
		return nil, err
	}
	for i := range t.models {
		role := a.Role(i, len(t.models), p)
		if role.Route == nil {
			return nil, fmt.Errorf("algorithm %q has no route function for model %d", name, i)
		}
		if role.Draft && !role.Keep {
			return nil, fmt.Errorf("algorithm %q: model %d drafts, and does not keep what it samples; what is drafted must be kept", name, i)
		}
		if role.Needs.Head {
			if err := t.checkHead(name, i); err != nil {
				return nil, &HeadError{err}
			}
		}
		if role.Needs.Top < 0 || role.Needs.Top > maxTop {
			return nil, fmt.Errorf("algorithm %q needs the top %d tokens of model %d: 0 to %d can be had", name, role.Needs.Top, i, maxTop)
		}
	}
	return a, nil
}

// maxTop is the most likely ids that a row can ask for (router.Needs.Top).
const maxTop = 128

// role returns what a model does in the algorithm of a request.
func (e *Engine) role(spec *Spec, self int) (router.Role, error) {
	a, err := router.Lookup(spec.Algorithm)
	if err != nil {
		return router.Role{}, err
	}
	return a.Role(self, len(spec.Models), spec.Params), nil
}
