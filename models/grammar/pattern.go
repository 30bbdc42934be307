package grammar

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"unicode"
)

// pattern is a string in which a regular expression finds a match. Characters stand for themselves, or are escaped if they must be.
func (b *builder) pattern(expression string) (frag, error) {
	r, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		var e *syntax.Error
		if errors.As(err, &e) {
			return frag{}, fmt.Errorf("%s: %q", e.Code, e.Expr)
		}
		return frag{}, err
	}
	body, err := b.searched(r.Simplify())
	if err != nil {
		return frag{}, err
	}
	return b.seq(b.text(`"`), body, b.text(`"`)), nil
}

// searched is any text with a match, from the beginning or to the end where the expression says so.
func (b *builder) searched(r *syntax.Regexp) (frag, error) {
	switch r.Op {
	case syntax.OpCapture:
		return b.searched(r.Sub[0])
	case syntax.OpAlternate:
		parts := make([]frag, len(r.Sub))
		for i, sub := range r.Sub {
			var err error
			if parts[i], err = b.searched(sub); err != nil {
				return frag{}, err
			}
		}
		return b.alt(parts...), nil
	}
	subs := []*syntax.Regexp{r}
	if r.Op == syntax.OpConcat {
		subs = r.Sub
	}
	begin, end := false, false
	for len(subs) > 0 && (subs[0].Op == syntax.OpBeginText || subs[0].Op == syntax.OpBeginLine) {
		begin, subs = true, subs[1:]
	}
	for n := len(subs); n > 0 && (subs[n-1].Op == syntax.OpEndText || subs[n-1].Op == syntax.OpEndLine); n = len(subs) {
		end, subs = true, subs[:n-1]
	}
	var parts []frag
	if !begin {
		parts = append(parts, b.star(b.character()))
	}
	for _, sub := range subs {
		f, err := b.matched(sub)
		if err != nil {
			return frag{}, err
		}
		parts = append(parts, f)
	}
	if !end {
		parts = append(parts, b.star(b.character()))
	}
	return b.seq(parts...), nil
}

// matched is exactly what the expression matches.
func (b *builder) matched(r *syntax.Regexp) (frag, error) {
	if b.full() {
		return frag{}, errTooLarge
	}
	subs := make([]frag, 0, len(r.Sub))
	if r.Op != syntax.OpRepeat && r.Op != syntax.OpStar && r.Op != syntax.OpPlus && r.Op != syntax.OpQuest {
		for _, sub := range r.Sub {
			f, err := b.matched(sub)
			if err != nil {
				return frag{}, err
			}
			subs = append(subs, f)
		}
	}
	switch r.Op {
	case syntax.OpEmptyMatch:
		return b.empty(), nil
	case syntax.OpLiteral:
		parts := make([]frag, len(r.Rune))
		for i, c := range r.Rune {
			if b.full() {
				return frag{}, errTooLarge
			}
			spans := []span{{c, c}}
			if r.Flags&syntax.FoldCase != 0 {
				for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
					spans = append(spans, span{f, f})
				}
			}
			parts[i] = b.inString(spans)
		}
		return b.seq(parts...), nil
	case syntax.OpCharClass:
		spans := make([]span, 0, len(r.Rune)/2)
		for i := 0; i+1 < len(r.Rune); i += 2 {
			spans = append(spans, span{r.Rune[i], r.Rune[i+1]})
		}
		return b.inString(spans), nil
	case syntax.OpAnyChar:
		return b.inString([]span{{0, unicode.MaxRune}}), nil
	case syntax.OpAnyCharNotNL:
		return b.inString([]span{{0, '\n' - 1}, {'\n' + 1, unicode.MaxRune}}), nil
	case syntax.OpCapture:
		return subs[0], nil
	case syntax.OpConcat:
		return b.seq(subs...), nil
	case syntax.OpAlternate:
		return b.alt(subs...), nil
	case syntax.OpStar:
		return b.repeated(r.Sub[0], 0, -1)
	case syntax.OpPlus:
		return b.repeated(r.Sub[0], 1, -1)
	case syntax.OpQuest:
		return b.repeated(r.Sub[0], 0, 1)
	case syntax.OpRepeat:
		return b.repeated(r.Sub[0], r.Min, r.Max)
	case syntax.OpNoMatch:
		return frag{b.node(), b.node()}, nil // pruned
	default:
		return frag{}, fmt.Errorf("%q is not supported in a pattern", r.String())
	}
}

func (b *builder) repeated(r *syntax.Regexp, least, most int) (f frag, err error) {
	f = b.repeat(func() frag {
		part, e := b.matched(r)
		if e != nil {
			err = e
			part = b.empty()
		}
		return part
	}, least, most)
	return f, err
}

// inString is one character of these spans as it stands in a JSON string.
func (b *builder) inString(spans []span) frag {
	f := frag{b.node(), b.node()}
	escape := func(r rune) {
		t := b.text(escaped(r))
		b.skip(f.in, t.in)
		b.skip(t.out, f.out)
	}
	for _, s := range spans {
		for r := s.lo; r <= min(s.hi, 0x1F); r++ {
			escape(r)
		}
		for _, r := range `"\` {
			if s.lo <= r && r <= s.hi {
				escape(r)
			}
		}
		for _, raw := range rawRunes {
			b.encodings(f, span{max(s.lo, raw.lo), min(s.hi, raw.hi)})
		}
	}
	return f
}
