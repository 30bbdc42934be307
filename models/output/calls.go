package output

import "strings"

// begin begins a call: opening is what led to it, and is shown if it turns out to be none. A bare one has no mark, and is one only if
// it is of a tool that there is.
func (p *Parser) begin(opening, rest string, bare bool) {
	p.at, p.held = inCall, rest
	p.call = &scanner{opening: opening, bare: bare}
	if bare {
		p.call.tools = p.tools
	}
}

// goOn hands text to the call.
func (p *Parser) goOn() bool {
	rest, state := p.call.add(p.held)
	p.held = rest
	for _, c := range p.call.take() {
		if c.Name != "" {
			p.calls++
		}
		c.Index = p.calls - 1
		p.out = append(p.out, Delta{Call: &c})
	}
	switch state {
	case scanOver:
		p.at = afterCall
		if p.call.bare { // another may follow at once
			p.at, p.think = atStart, false
		}
		return true
	case scanBroken:
		p.broken()
		return true
	default:
		return false
	}
}

// broken goes back to content where a call turned out to be none. One that has a name already stays as far as it came.
func (p *Parser) broken() {
	s := p.call
	p.call = nil
	switch {
	case s.bare && s.named:
		p.at, p.format = inContent, NoCalls
	case s.bare:
		p.at, p.held = inContent, s.opening+string(s.seen)+p.held
		if p.format == Llama {
			p.format = NoCalls
		}
	case s.named:
		p.at = afterCall
	default: // the mark is not to be found again
		p.at, p.held = inContent, string(s.seen)+p.held
		p.say(s.opening)
	}
}

// endCall skips to the end of a call.
func (p *Parser) endCall(end bool) bool {
	_, after, found := strings.Cut(p.held, callShut)
	if found {
		p.at, p.held, p.trim = inContent, after, true
		return true
	}
	if end {
		p.held = ""
		return false
	}
	p.held = p.held[len(p.held)-partial(p.held, callShut):]
	return false
}
