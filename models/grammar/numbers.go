package grammar

import "strings"

// limits are the bounds of a number; nil: none.
type limits struct {
	least, most           *decimal
	aboveLeast, belowMost bool // the bound itself is out
}

// within is a number, without an exponent, that is within limits. With integers it has no fraction.
func (b *builder) within(l limits, integers bool) (frag, bool) {
	// Numbers from zero up, and those below, which are a minus sign and a number within the mirrored limits.
	zero := decimal{whole: "0"}
	var parts []frag
	if up, ok := b.fromZero(l.clip(zero, false), integers); ok {
		parts = append(parts, up)
	}
	if down, ok := b.fromZero(l.mirrored().clip(zero, true), integers); ok {
		parts = append(parts, b.seq(b.text("-"), down))
	}
	if len(parts) == 0 {
		return frag{}, false
	}
	return b.alt(parts...), true
}

func (l limits) mirrored() limits {
	m := limits{aboveLeast: l.belowMost, belowMost: l.aboveLeast}
	turn := func(d *decimal) *decimal {
		if d == nil {
			return nil
		}
		t := *d
		t.negative = !t.negative && t.String() != "0"
		return &t
	}
	m.least, m.most = turn(l.most), turn(l.least)
	return m
}

// clip raises the lower limit to at least this.
func (l limits) clip(least decimal, above bool) limits {
	if l.least == nil || l.least.compare(least) < 0 || l.least.compare(least) == 0 && above {
		l.least, l.aboveLeast = &least, above
	}
	return l
}

// fromZero is a number within limits of which the lower one is 0 or more.
func (b *builder) fromZero(l limits, integers bool) (frag, bool) {
	low := *l.least
	if l.most != nil {
		if c := l.most.compare(low); c < 0 || c == 0 && (l.aboveLeast || l.belowMost) {
			return frag{}, false
		}
	}
	var parts []frag
	add := func(f frag, ok bool) {
		if ok {
			parts = append(parts, f)
		}
	}
	if l.most != nil && l.most.whole == low.whole {
		add(b.withWhole(low.whole, &low, l.aboveLeast, l.most, l.belowMost, integers))
	} else {
		add(b.withWhole(low.whole, &low, l.aboveLeast, nil, false, integers))
		top := strings.Repeat("9", mostDigits)
		if l.most != nil {
			add(b.withWhole(l.most.whole, nil, false, l.most, l.belowMost, integers))
			top = before(l.most.whole)
		}
		if wholes, ok := b.wholes(after(low.whole), top); ok {
			if !integers {
				wholes = b.seq(wholes, b.opt(b.seq(b.text("."), b.digits(1, mostDigits))))
			}
			parts = append(parts, wholes)
		}
	}
	if len(parts) == 0 {
		return frag{}, false
	}
	return b.alt(parts...), true
}

// withWhole is a number with these digits before the point, and those behind it within limits.
func (b *builder) withWhole(whole string, low *decimal, above bool, high *decimal, below, integers bool) (frag, bool) {
	l, h := "", (*string)(nil)
	if low != nil {
		l = low.fraction
	}
	if high != nil {
		h = &high.fraction
	}
	if integers {
		if l != "" || low != nil && above || h != nil && *h == "" && below {
			return frag{}, false
		}
		return b.text(whole), true
	}
	f := &fractions{b: b, low: l, above: low != nil && above, high: h, below: below, nodes: make(map[[3]int]int32)}
	end := b.node()
	start := b.node()
	f.end = end
	if f.complete(0, true, h != nil) {
		b.skip(start, end)
	}
	point := b.text(".")
	b.skip(start, point.in)
	f.digits(point.out, 0, true, h != nil)
	w := b.text(whole)
	b.skip(w.out, start)
	return frag{w.in, end}, true
}

// fractions makes the automaton of the digits behind a point: how many there are, and whether they are still those of the limits.
type fractions struct {
	b            *builder
	low          string
	above, below bool
	high         *string
	end          int32
	nodes        map[[3]int]int32
}

func digitOf(s string, i int) int {
	if i < len(s) {
		return int(s[i] - '0')
	}
	return 0
}

// complete reports whether the number may end after n digits.
func (f *fractions) complete(n int, onLow, onHigh bool) bool {
	if onLow { // what is left of the limit must be zeros, or this is less
		rest := strings.Trim(f.low[min(n, len(f.low)):], "0")
		if rest != "" || f.above {
			return false
		}
	}
	if onHigh { // this is at most the limit; less, if something is left of it
		rest := strings.Trim((*f.high)[min(n, len(*f.high)):], "0")
		if rest == "" && f.below {
			return false
		}
	}
	return true
}

// digits adds the digits that may follow n of them.
func (f *fractions) digits(at int32, n int, onLow, onHigh bool) {
	if n == mostDigits {
		return
	}
	for d := range 10 {
		low, high := onLow, onHigh
		if low {
			l := digitOf(f.low, n)
			if d < l {
				continue
			}
			low = d == l
		}
		if high {
			h := digitOf(*f.high, n)
			if d > h {
				continue
			}
			high = d == h
		}
		b := f.b
		b.nodes[at].edges = append(b.nodes[at].edges, edge{'0' + byte(d), '0' + byte(d), f.node(n+1, low, high)})
	}
}

func (f *fractions) node(n int, onLow, onHigh bool) int32 {
	key := [3]int{n, 0, 0}
	if onLow {
		key[1] = 1
	}
	if onHigh {
		key[2] = 1
	}
	if at, ok := f.nodes[key]; ok {
		return at
	}
	at := f.b.node()
	f.nodes[key] = at
	if f.complete(n, onLow, onHigh) {
		f.b.skip(at, f.end)
	}
	f.digits(at, n, onLow, onHigh)
	return at
}

// wholes is a whole number without leading zeros from low to high, written in decimal digits; false if there is none.
func (b *builder) wholes(low, high string) (frag, bool) {
	if len(low) > len(high) || len(low) == len(high) && low > high || len(low) > mostDigits {
		return frag{}, false
	}
	high = high[:min(len(high), mostDigits+1)]
	var parts []frag
	for n := len(low); n <= min(len(high), mostDigits); n++ {
		l, h := "1"+strings.Repeat("0", n-1), strings.Repeat("9", n)
		if n == len(low) {
			l = low
		}
		if n == len(high) {
			h = high
		}
		parts = append(parts, b.between(l, h))
	}
	return b.alt(parts...), true
}

// between is as many digits as low and high have, of a number from low to high.
func (b *builder) between(low, high string) frag {
	n := len(low)
	switch {
	case n == 0:
		return b.empty()
	case low == strings.Repeat("0", n) && high == strings.Repeat("9", n):
		return b.digits(n, n)
	case low[0] == high[0]:
		return b.seq(b.text(low[:1]), b.between(low[1:], high[1:]))
	}
	parts := []frag{
		b.seq(b.text(low[:1]), b.between(low[1:], strings.Repeat("9", n-1))),
		b.seq(b.text(high[:1]), b.between(strings.Repeat("0", n-1), high[1:])),
	}
	if high[0]-low[0] > 1 {
		parts = append(parts, b.seq(b.byteFrom(low[0]+1, high[0]-1), b.digits(n-1, n-1)))
	}
	return b.alt(parts...)
}

// after and before are the next and the last whole number; before "0" is none, "".
func after(digits string) string {
	out := []byte(digits)
	for i := len(out) - 1; i >= 0; i-- {
		if out[i] < '9' {
			out[i]++
			return string(out)
		}
		out[i] = '0'
	}
	return "1" + string(out)
}

func before(digits string) string {
	out := []byte(digits)
	for i := len(out) - 1; i >= 0; i-- {
		if out[i] == '0' {
			out[i] = '9'
			continue
		}
		out[i]--
		if out[0] == '0' && len(out) > 1 {
			out = out[1:]
		}
		return string(out)
	}
	return ""
}
