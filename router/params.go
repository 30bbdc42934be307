package router

// Params are the parameters of an algorithm: those of the route, overridden by a request's `routing` object.
// A nil pointer means that the parameter was not given; the algorithm then uses its own default.
type Params struct {
	Threshold *float64 `json:"threshold,omitempty" yaml:"threshold,omitempty"`
}

// Override returns p with every parameter that o gives taken from o.
func (p Params) Override(o Params) Params {
	if o.Threshold != nil {
		p.Threshold = o.Threshold
	}
	return p
}
