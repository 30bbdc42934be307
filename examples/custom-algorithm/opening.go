// Package opening is a routing algorithm in a module of its own: the large model writes three tokens, the small one the rest.
package opening

import (
	"errors"

	"github.com/tokenrouter/tokenrouter/router"
)

type opening struct{}

func init()                  { router.Register(opening{}) }
func (opening) Name() string { return "opening" }

func (opening) Check(models int, p router.Params) error {
	if models != 2 || p.Threshold != nil {
		return errors.New("opening takes 2 models and no threshold")
	}
	return nil
}

func (opening) Role(int, int, router.Params) router.Role {
	return router.Role{Keep: true, Start: func(router.View) int { return 1 }, Route: func(v router.View) router.Destination {
		if v.Model == 1 && len(v.Tokens) == v.Prompt+2 { // and the token just drawn
			return router.PeerOf(1, 0)
		}
		return router.Stay
	}}
}
