package router

import "fmt"

// SpeculativeName is the name of speculative decoding.
const SpeculativeName = "speculative"

// Numbers of tokens that the small model drafts at a time: when none is given, and at most.
const (
	SpeculativeDraft = 4
	SpeculativeMost  = 16
)

// Speculative lets the small model (role 0) draft some tokens, which the large one (role 1) then checks in one forward pass with
// an output at each of them (Leviathan, Kalman, Matias, "Fast inference from transformers via speculative decoding"; Chen et al.,
// "Accelerating large language model decoding with speculative sampling"). The answer is the one that the large model gives alone.
//
// A draft stands if it is the token that the large model draws at its position itself. The first that is not is replaced by the
// large model's, those after it are thrown away, and after drafts that all stand the large model writes one token more. Draws depend
// on the seed, the choice and the position, and on nothing else: so the answer is the large model's token by token, whatever the
// sampling parameters, and both models draw a position with the same random number, which makes them agree far more often than
// independent draws would.
//
// The large model begins, since the first token is not there sooner otherwise, and writes the last token itself where only one is
// left.
type Speculative struct{}

func init() { Register(Speculative{}) }

// Name implements [Algorithm].
func (Speculative) Name() string { return SpeculativeName }

// Check implements [Algorithm]: two models, and nothing but the number of drafts.
func (Speculative) Check(models int, p Params) error {
	if err := checkModels(SpeculativeName, models, p); err != nil {
		return err
	}
	switch {
	case p.Threshold != nil:
		return fmt.Errorf("algorithm %q takes no threshold (got %g): the large model decides about every token", SpeculativeName, *p.Threshold)
	case p.Strategy != "":
		return fmt.Errorf("algorithm %q has no strategies (got %q)", SpeculativeName, p.Strategy)
	case p.Draft != nil && (*p.Draft < 1 || *p.Draft > SpeculativeMost):
		return fmt.Errorf("algorithm %q: draft is how many tokens the small model drafts at a time, from 1 to %d, not %d",
			SpeculativeName, SpeculativeMost, *p.Draft)
	}
	return nil
}

// Role implements [Algorithm].
func (Speculative) Role(model, _ int, p Params) Role {
	if model == 1 {
		return Role{Keep: true, AsAlone: true, Route: func(v View) Destination {
			right := len(v.Draft) > 0 && v.Row.Token == v.Draft[0]
			if right || v.Left == 2 { // the next row is here already; a single token that is left is not worth a draft
				return Stay
			}
			return PeerOf(1, 0)
		}}
	}
	most := SpeculativeDraft
	if p.Draft != nil {
		most = *p.Draft
	}
	return Role{
		Keep: true, AsAlone: true, Draft: true,
		Start: func(View) int { return 1 },
		Route: func(v View) Destination {
			// Nothing follows a token that ends the answer; and the position after the drafts is the large model's anyway.
			if len(v.Draft)+1 >= most || v.Ends || v.Left == 2 {
				return PeerOf(0, 1)
			}
			return Stay
		},
	}
}
