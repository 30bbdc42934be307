package output

import "strings"

// begin begins a call: opening is what led to it, and is shown if it turns out to be none.
func (p *Parser) begin(opening, rest string) {
	p.at, p.held = inCall, rest
	p.call = &scanner{opening: opening}
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
		if p.format == Llama { // another may follow at once
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
	case s.named && p.format == Hermes:
		p.at = afterCall
	case s.named:
		p.at, p.format = inContent, NoCalls
	case p.format == Hermes: // the mark is not to be found again
		p.at = inContent
		p.say(s.opening)
		p.held = string(s.seen) + p.held
	default:
		p.at, p.format = inContent, NoCalls
		p.held = s.opening + string(s.seen) + p.held
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
