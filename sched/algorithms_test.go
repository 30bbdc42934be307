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
	router.Register(algorithm{name: "test-guess", models: 3, roles: func(router.Params) []router.Role {
		// Two models draft, the second of them in vain where the first one has already; the third judges, and goes on while it is sure.
		sure := func(v router.View) bool { return v.Row.Entropy < 1 }
		return []router.Role{
			{Keep: true, Draft: true, AsAlone: true, Route: func(v router.View) router.Destination {
				if len(v.Draft) < 2 && !v.Ends {
					return router.Stay
				}
				return router.PeerOf(0, 1+len(v.Tokens)%2)
			}},
			{Keep: true, Draft: true, AsAlone: true, Route: func(v router.View) router.Destination {
				if !v.Ends && sure(v) {
					return router.Stay
				}
				return router.PeerOf(1, 2)
			}},
			{Keep: true, AsAlone: true, Needs: router.Needs{Top: 2}, Route: func(v router.View) router.Destination {
				if len(v.Row.TopIDs) != 2 || len(v.Tokens)+v.Left < v.Prompt+1 {
					panic("needs were not met, or nothing is left")
				}
				if sure(v) {
					return router.Stay
				}
				return router.PeerOf(2, 0)
			}},
		}
	}})
	router.Register(algorithm{name: "test-doubt", models: 3, roles: func(router.Params) []router.Role {
		// The first drafts what it is sure of, the second judges as long as it is sure, and leaves the position to the third otherwise,
		// whatever was drafted for it.
		sure := func(v router.View) bool { return v.Row.Entropy < 1 }
		return []router.Role{
			{Keep: true, Draft: true, AsAlone: true, Route: func(v router.View) router.Destination {
				if sure(v) && !v.Ends {
					return router.Stay
				}
				return router.PeerOf(0, 1)
			}},
			{AsAlone: true, Route: func(v router.View) router.Destination {
				if sure(v) {
					return router.Stay
				}
				return router.PeerOf(1, 2)
			}},
			{Keep: true, Route: func(v router.View) router.Destination { return router.PeerOf(2, 0) }},
		}
	}})
	router.Register(algorithm{name: "test-no-keep", models: 2, roles: func(router.Params) []router.Role {
		role := router.Role{Draft: true, Route: func(router.View) router.Destination { return 1 }}
		return []router.Role{role, role}
	}})
	router.Register(algorithm{name: "test-endless", models: 2, roles: func(router.Params) []router.Role {
		role := router.Role{Draft: true, Keep: true, Route: func(router.View) router.Destination { return router.Stay }}
		return []router.Role{role, role}
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
