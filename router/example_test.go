package router_test

import (
	"fmt"

	"github.com/tokenrouter/tokenrouter/router"
)

// opening lets the last model of a route write the first tokens of an answer and the entry all the rest. A whole
// algorithm of one's own: a type, and router.Register(opening{tokens: 2}) in an init function.
type opening struct{ tokens int }

func (opening) Name() string { return "opening" }

func (opening) Check(models int, p router.Params) error {
	if models != 2 || p.Threshold != nil {
		return fmt.Errorf("algorithm %q takes 2 models and no threshold, not %d models", "opening", models)
	}
	return nil
}

func (o opening) Role(model, _ int, _ router.Params) router.Role {
	if model == 0 {
		return router.Role{Route: func(v router.View) router.Destination {
			if len(v.Tokens) == v.Prompt { // nothing written yet: discard, let the peer begin
				return router.PeerOf(0, 1)
			}
			return router.Stay
		}}
	}
	return router.Role{Keep: true, Route: func(v router.View) router.Destination {
		if len(v.Tokens)+1-v.Prompt >= o.tokens { // with the token just sampled
			return router.PeerOf(1, 0)
		}
		return router.Stay
	}}
}

// A routing algorithm is one type. The scheduler needs no change to run it.
func Example_algorithm() {
	router.Register(opening{tokens: 2})
	a, err := router.Lookup("opening")
	if err != nil {
		fmt.Println(err)
		return
	}
	v := router.View{Models: 2, Tokens: []int32{11, 12, 13}, Prompt: 3}
	fmt.Println("entry, first token:", a.Role(0, 2, router.Params{}).Route(v))
	fmt.Println("peer, first token: ", a.Role(1, 2, router.Params{}).Route(v))
	v.Tokens = append(v.Tokens, 101)
	fmt.Println("peer, second token:", a.Role(1, 2, router.Params{}).Route(v))
	// Output:
	// entry, first token: 1
	// peer, first token:  0
	// peer, second token: 1
}
