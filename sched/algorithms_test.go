package sched_test

import (
	"fmt"

	"github.com/tokenrouter/tokenrouter/router"
)

// Algorithms of other shapes than R-Stitch, so that the scheduler is not tested on one shape alone.

func init() {
	router.Register(algorithm{name: "test-visit", models: 2, roles: func(p router.Params) []router.Role {
		// As R2R, CITER and Co-LLM go: the small model's token is discarded, the large one writes one and hands back.
		return []router.Role{
			{Needs: router.Needs{Top: 3, Hidden: true}, Route: func(v router.View) router.Destination {
				if len(v.Row.TopIDs) != 3 || len(v.Row.Hidden) == 0 {
					panic("needs were not met")
				}
				return router.Destination(b2i(v.Row.Entropy > 1))
			}},
			{Keep: true, Route: func(router.View) router.Destination { return router.PeerOf(1, 0) }},
		}
	}})
	router.Register(algorithm{name: "test-mix", models: 3, roles: func(p router.Params) []router.Role {
		// As the ensemble goes: every token is kept, and a number that depends on seed and position alone says who is next.
		role := router.Role{Keep: true, Route: func(v router.View) router.Destination {
			return router.PeerOf(v.Model, int((v.Seed*31+uint64(len(v.Tokens))*2654435761)>>5%3))
		}}
		return []router.Role{role, role, role}
	}})
	router.Register(algorithm{name: "test-cascade", models: 3, roles: func(p router.Params) []router.Role {
		// Each model may pass a position on to the next; the last one writes it, and the first goes on.
		pass := func(to router.Destination) func(router.View) router.Destination {
			return func(v router.View) router.Destination {
				if v.Row.Entropy > 0.5 {
					return to
				}
				return router.Stay
			}
		}
		return []router.Role{
			{Route: pass(router.PeerOf(0, 1))},
			{Route: pass(router.PeerOf(1, 2))},
			{Keep: true, Route: func(router.View) router.Destination { return router.PeerOf(2, 0) }},
		}
	}})
	router.Register(algorithm{name: "test-bounce", models: 2, roles: func(router.Params) []router.Role {
		// The mistake of reading R-Stitch literally: both sides drop their token.
		to := router.Role{Route: func(v router.View) router.Destination { return 1 }}
		return []router.Role{to, to}
	}})
	router.Register(algorithm{name: "test-panic", models: 2, roles: func(router.Params) []router.Role {
		return []router.Role{
			{Route: func(v router.View) router.Destination {
				if len(v.Tokens) > v.Prompt+2 {
					panic("no idea")
				}
				return router.Stay
			}},
			{Route: func(router.View) router.Destination { return router.Stay }},
		}
	}})
	router.Register(algorithm{name: "test-second-head", models: 2, roles: func(router.Params) []router.Role {
		stay := func(router.View) router.Destination { return router.Stay }
		return []router.Role{{Route: stay}, {Route: stay, Needs: router.Needs{Head: true}}}
	}})
	router.Register(algorithm{name: "test-lost", models: 2, roles: func(router.Params) []router.Role {
		role := router.Role{Route: func(v router.View) router.Destination { return 2 }}
		return []router.Role{role, role}
	}})
}

// algorithm is one whose roles do not depend on anything but the parameters.
type algorithm struct {
	name   string
	models int
	roles  func(router.Params) []router.Role
}

func (a algorithm) Name() string { return a.name }

func (a algorithm) Check(models int, p router.Params) error {
	if models != a.models || p.Threshold != nil {
		return fmt.Errorf("algorithm %q takes %d models and no threshold", a.name, a.models)
	}
	return nil
}

func (a algorithm) Role(model, _ int, p router.Params) router.Role { return a.roles(p)[model] }

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
