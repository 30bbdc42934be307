package grammar

import (
	"fmt"
	"math/big"
	"strings"
)

// decimal is a number of a schema, exactly.
type decimal struct {
	negative bool
	whole    string // digits before the point, without leading zeros: "0" for none
	fraction string // digits behind it, without trailing zeros
}

// String writes it without an exponent.
func (d decimal) String() string {
	s := d.whole
	if d.fraction != "" {
		s += "." + d.fraction
	}
	if d.negative {
		s = "-" + s
	}
	return s
}

// mostShift bounds the exponents of a schema's numbers.
const mostShift = 64

// parseDecimal reads a JSON number.
func parseDecimal(text string) (decimal, error) {
	r, ok := new(big.Rat).SetString(boundedExponent(text))
	if !ok {
		return decimal{}, fmt.Errorf("%q is not a number of at most %d digits", text, mostShift)
	}
	places, exact := r.FloatPrec()
	if !exact {
		return decimal{}, fmt.Errorf("%q has no decimal form", text)
	}
	d := decimal{negative: r.Sign() < 0}
	digits, fraction, _ := strings.Cut(new(big.Rat).Abs(r).FloatString(places), ".")
	d.whole, d.fraction = digits, strings.TrimRight(fraction, "0")
	return d, nil
}

// boundedExponent returns "" for a number whose exponent would make it very long.
func boundedExponent(text string) string {
	at := strings.IndexAny(text, "eE")
	if at < 0 {
		if len(text) > 2*mostShift {
			return ""
		}
		return text
	}
	exponent := strings.TrimLeft(text[at+1:], "+-0")
	if len(exponent) > 2 || len(text) > 2*mostShift {
		return ""
	}
	return text
}

// compare gives the sign of d - e.
func (d decimal) compare(e decimal) int {
	return d.rat().Cmp(e.rat())
}

func (d decimal) rat() *big.Rat {
	r, _ := new(big.Rat).SetString(d.String())
	return r
}
