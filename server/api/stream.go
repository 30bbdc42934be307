package api

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/openai"
)

// stream sends the answer as server-sent events: the opening of each choice, pieces of text, the closing of each choice,
// usage if it was asked for, and [DONE]. An error after the beginning is an event of its own, and the end.
func (a *answering) stream() {
	h := a.gin.Writer.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no") // or nginx collects the events
	a.gin.Status(http.StatusOK)

	err := a.events()
	var e *openai.Error
	switch {
	case err == nil:
	case errors.As(err, &e):
		recordOf(a.gin).failed(e)
		_ = a.send(e.Body()) // if this fails the client has gone, and needs no telling
	default:
		recordOf(a.gin).gone = true
	}
}

func (a *answering) events() error {
	for _, ch := range a.choices {
		if err := a.send(a.form.opening(ch)); err != nil {
			return err
		}
	}
	ticker := time.NewTicker(a.server.options.PingInterval)
	defer ticker.Stop()
	ping := func() error { return a.raw(": still working\n\n") }
	closed := 0
	err := a.each(ticker.C, ping, func(ch *choice, e sched.Event) error {
		ticker.Reset(a.server.options.PingInterval)
		tokens := ch.shownTokens(e)
		if !a.requests[0].LogProbs {
			tokens = nil
		}
		var r *openai.RoutingPiece
		if trace := a.trace(ch, e.Tokens); len(trace) > 0 {
			r = &openai.RoutingPiece{Trace: trace}
		}
		if e.Text != "" || len(tokens) > 0 || r != nil && ch.finish == "" {
			if err := a.send(a.form.piece(ch, e.Text, tokens, r)...); err != nil {
				return err
			}
			r = nil
		}
		if ch.finish == "" {
			return nil
		}
		if closed++; closed == len(a.choices) {
			if r == nil {
				r = &openai.RoutingPiece{}
			}
			r.RoutingAccount, _ = a.account()
		}
		return a.send(a.form.closing(ch, r)...)
	})
	if err != nil {
		return err
	}
	if a.withUsage {
		_, u := a.account()
		if err := a.send(a.form.usage(u)); err != nil {
			return err
		}
	}
	return a.raw("data: [DONE]\n\n")
}

// send writes events and flushes each. nil is no event.
func (a *answering) send(events ...any) error {
	for _, v := range events {
		if v == nil {
			continue
		}
		text, err := openai.Marshal(v)
		if err != nil {
			return openai.Failure(http.StatusInternalServerError, openai.CodeInternal, "a piece of the answer could not be written as JSON: %v", err)
		}
		if err := a.raw("data: " + string(text) + "\n\n"); err != nil {
			return err
		}
	}
	return nil
}

func (a *answering) raw(text string) error {
	a.server.patience(a.gin)
	if _, err := a.gin.Writer.WriteString(text); err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	if err := http.NewResponseController(a.gin.Writer).Flush(); err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	return nil
}
