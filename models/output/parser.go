package output

import "strings"

// Delta is a piece of an answer: one of its fields is given.
type Delta struct {
	Reasoning string
	Content   string
	Call      *Call
}

// Call is a piece of a call of a function: the first of a call has Name, those after it have more of Arguments.
type Call struct {
	Index     int
	Name      string
	Arguments string // JSON, if the model keeps to it
}

// place is where in an answer a Parser is.
type place int

const (
	atStart    place = iota // thoughts or a call may begin
	inThoughts              // before </think>
	inContent
	inCall
	afterCall // in Hermes' format: before </tool_call>
)

// Parser takes one answer apart as it comes. Text is held back while it may be the beginning of a mark. For one goroutine.
type Parser struct {
	format  Format
	tools   []string // names of those that may be called
	at      place
	think   bool   // thoughts may begin
	held    string // not yet taken apart
	added   int    // bytes of text so far
	shut    int    // of them, those up to the end of the thoughts
	thought bool   // some thoughts are out
	space   string // line breaks that show only if more thoughts follow
	trim    bool   // white space that comes next is between thoughts, calls and content
	calls   int
	call    *scanner
	out     []Delta
}

// Parser begins an answer. With tools calls are looked for.
func (s Style) Parser(t Thinking, tools []string) *Parser {
	p := &Parser{think: t == Unopened, tools: tools}
	if len(tools) > 0 {
		p.format = s.Calls
	}
	switch {
	case t == Opened:
		p.at = inThoughts
	case t == Closed && p.format == NoCalls:
		p.at = inContent
	}
	return p
}

// Called reports whether a call has begun.
func (p *Parser) Called() bool { return p.calls > 0 }

// Thoughts is how many bytes of the text so far are thoughts, or marks around them, and whether there will be no more.
func (p *Parser) Thoughts() (bytes int, over bool) {
	if p.at == inThoughts {
		return p.added, false
	}
	return p.shut, p.at != atStart || !p.think
}

// Add takes more of the text and returns what is certain now. The result is used again by the next call.
func (p *Parser) Add(text string) []Delta {
	p.out = p.out[:0]
	p.held += text
	p.added += len(text)
	for p.held != "" && p.step(false) {
	}
	return p.out
}

// Finish ends the answer and returns what was held back.
func (p *Parser) Finish() []Delta {
	p.out = p.out[:0]
	for p.held != "" && p.step(true) {
	}
	if p.at == inCall { // it was cut off
		p.broken()
		for p.held != "" && p.step(true) {
		}
	}
	return p.out
}

// step goes on as far as it is certain what the text means, and reports whether to go on. At the end everything is certain.
func (p *Parser) step(end bool) bool {
	switch p.at {
	case atStart:
		return p.start(end)
	case inThoughts:
		return p.thoughts(end)
	case inContent:
		return p.content(end)
	case inCall:
		return p.goOn()
	default:
		return p.endCall(end)
	}
}

// start looks for thoughts, or for a call that is the whole answer.
func (p *Parser) start(end bool) bool {
	skipped := " \n"
	if p.calls > 0 {
		skipped += ";" // between calls
	}
	text := strings.TrimLeft(p.held, skipped)
	if p.think {
		if rest, ok := strings.CutPrefix(text, thinkOpen); ok {
			p.at, p.held = inThoughts, rest
			return true
		}
		if !end && strings.HasPrefix(thinkOpen, text) {
			return false
		}
	}
	if p.format != NoCalls { // Hermes' models often leave out the marks
		if text == "" && !end {
			return false
		}
		if text == "" && p.calls > 0 {
			p.held = ""
			return false
		}
		if strings.HasPrefix(text, "{") {
			p.begin(p.held[:len(p.held)-len(text)], text, true)
			return true
		}
	}
	p.at = inContent
	return true
}

// thoughts goes up to their end.
func (p *Parser) thoughts(end bool) bool {
	before, after, found := strings.Cut(p.held, thinkShut)
	if found {
		p.think1(before)
		p.space, p.think = "", false
		p.shut = p.added - len(after)
		p.at, p.held, p.trim = atStart, after, true
		return true
	}
	keep := 0
	if !end {
		keep = partial(p.held, thinkShut)
	}
	p.think1(p.held[:len(p.held)-keep])
	p.held = p.held[len(p.held)-keep:]
	return false
}

// think1 gives thoughts out, without white space around all of them.
func (p *Parser) think1(text string) {
	if !p.thought {
		text = strings.TrimLeft(text, "\n")
	}
	text = p.space + text
	shown := strings.TrimRight(text, "\n")
	p.space = text[len(shown):]
	if shown != "" {
		p.thought = true
		p.out = append(p.out, Delta{Reasoning: shown})
	}
}

// content goes up to a call.
func (p *Parser) content(end bool) bool {
	if p.trim {
		if p.held = strings.TrimLeft(p.held, " \n"); p.held == "" {
			return false
		}
		p.trim = false
	}
	if p.format != Hermes {
		p.say(p.held)
		p.held = ""
		return false
	}
	before, after, found := strings.Cut(p.held, callOpen)
	if found {
		p.say(strings.TrimRight(before, " \n"))
		p.begin(p.held[:len(p.held)-len(after)][len(before):], after, false)
		return true
	}
	keep := 0
	if !end {
		keep = partial(p.held, callOpen)
		// White space before a call is not part of what is said.
		keep = len(p.held) - len(strings.TrimRight(p.held[:len(p.held)-keep], " \n"))
	}
	p.say(p.held[:len(p.held)-keep])
	p.held = p.held[len(p.held)-keep:]
	return false
}

func (p *Parser) say(text string) {
	if text != "" {
		p.out = append(p.out, Delta{Content: text})
	}
}

// partial is the length of the longest end of text that is a beginning of mark.
func partial(text, mark string) int {
	for n := min(len(mark)-1, len(text)); n > 0; n-- {
		if strings.HasSuffix(text, mark[:n]) {
			return n
		}
	}
	return 0
}
