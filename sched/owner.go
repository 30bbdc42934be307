package sched

import (
	"fmt"
	"time"

	"github.com/tokenrouter/tokenrouter/router"
)

// owner is the one place that knows a whole answer: it turns tokens into text, looks for stop strings (which may span
// tokens and models), ends the answer, and writes the stream. It lives in the client-server loop of the route's entry.
type owner struct {
	id         string
	generation uint64
	spec       *Spec
	role       router.Role // of the entry
	prompt     []int32
	stream     *Stream
	text       Text
	detok      Detokenizer // nil: no text
	stops      stops
	unwatch    func() bool // stops watching the client's context

	sharing   *sharing // nil: the algorithm has no score
	client    string
	asked     time.Time
	admitted  bool
	listeners []int    // models of the route that extend ahead of need
	position  int      // of the next token
	early     []commit // tokens from one peer that overtook those of another
	last      Event    // the last event, once the answer has ended; sent when the request has been freed
	held      []Token  // whose text is not out yet
	ends      []int    // [held] where the text of each ends, counted from the start of the answer
	seen      int      // bytes of text so far, held back or not
	sent      int      // bytes of text in events so far
}

// commit is tokens that a model committed, as its owner hears of them.
type commit struct {
	start  int
	tokens []int32
	infos  []TokenInfo
	cached int // positions that the model had in its KV cache before it first read the request
}

// commit takes committed tokens and reports whether they end the answer. Commits from one model come in order; those of
// different models may overtake one another and are put in order here.
func (o *owner) commit(c commit) (over bool, err error) {
	if c.start > o.position {
		o.early = append(o.early, c)
		return false, nil
	}
	for more := true; more; c, more = o.nextEarly() {
		if c.start < o.position {
			return false, fmt.Errorf("position %d was committed twice", c.start)
		}
		if c.start == o.spec.Prompt {
			o.stream.cached(c.cached)
		}
		for i, token := range c.tokens {
			if o.add(token, &c.infos[i]) {
				return true, nil
			}
		}
	}
	return false, nil
}

// nextEarly takes out the commit that was waiting for the present position, if there is one.
func (o *owner) nextEarly() (commit, bool) {
	for i, c := range o.early {
		if c.start <= o.position {
			o.early = append(o.early[:i], o.early[i+1:]...)
			return c, true
		}
	}
	return commit{}, false
}

// add takes one committed token and reports whether it ends the answer.
func (o *owner) add(id int32, info *TokenInfo) bool {
	o.position++
	o.stream.count(info)
	token := Token{ID: id, End: o.spec.ends(id), Info: *info}
	if !o.spec.Trace {
		token.Info.Discarded = nil
	}
	if o.text != nil {
		token.Text = o.text.Piece(id)
	}
	text := ""
	if o.detok != nil && !token.End {
		text = o.detok.Add(id)
	}
	o.seen += len(text)
	end := o.seen
	if text == "" && o.detok != nil {
		end++ // shows, if at all, with the text of the token that follows
	}
	o.held, o.ends = append(o.held, token), append(o.ends, end)

	reason, over := o.spec.over(id, o.position)
	if over && o.detok != nil {
		text += o.detok.Flush()
	}
	text, stopped := o.stops.add(text)
	switch {
	case stopped:
		o.finish(text, FinishStop, nil)
		return true
	case over:
		o.finish(text+o.stops.rest(), reason, nil)
		return true
	}
	o.emit(text)
	return false
}

// emit sends text and the tokens whose text is out with it.
func (o *owner) emit(text string) {
	if text == "" && o.detok != nil {
		return
	}
	o.sent += len(text)
	n := 0
	for n < len(o.held) && o.ends[n] <= o.sent {
		n++
	}
	event := Event{Text: text, Tokens: o.held[:n:n]}
	if n == len(o.held) {
		o.held, o.ends = nil, o.ends[:0]
	} else {
		o.held = append([]Token(nil), o.held[n:]...)
		o.ends = append(o.ends[:0], o.ends[n:]...)
	}
	o.stream.push(event)
}

// finish makes the last event.
func (o *owner) finish(text string, reason FinishReason, err error) {
	o.last = Event{Text: text, Tokens: o.held, Finish: reason, Err: err}
	o.held, o.ends, o.early = nil, nil, nil
}

// abort ends an answer from outside: its client has left, or a model has failed. It shows the text that was held back.
func (o *owner) abort(reason FinishReason, err error) {
	text := ""
	if o.detok != nil {
		text = o.detok.Flush()
	}
	text, stopped := o.stops.add(text)
	if !stopped {
		text += o.stops.rest()
	}
	o.finish(text, reason, err)
}
