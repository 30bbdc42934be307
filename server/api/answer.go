package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/rs/zerolog"

	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/openai"
)

// answering is a call while the engine works on it.
type answering struct {
	*call
	server  *Server
	gin     *gin.Context
	ctx     context.Context // of the answer
	choices []*choice
	pieces  <-chan piece
	first   time.Time // when the first token came
}

// piece is an event of one of the choices.
type piece struct {
	choice *choice
	event  sched.Event
	err    error // of Next: the context is done
}

// answer submits a call to the engine and sends what comes back. When it returns, the engine has been told to free
// whatever is still running.
func (s *Server) answer(c *gin.Context, e Engine, call *call) {
	ctx, cancel := context.WithTimeoutCause(c.Request.Context(), s.options.RequestTimeout, errTimeout)
	defer cancel()
	a := &answering{call: call, server: s, gin: c, ctx: ctx}
	for i, r := range call.requests {
		r.Client = client(c)
		r.ID = fmt.Sprintf("%s-%d", recordOf(c).id, i) // so that the scheduler's records can be joined with the log
		stream, err := e.Submit(ctx, r)
		if err != nil {
			var full *sched.QueueFullError
			if errors.As(err, &full) {
				c.Header("Retry-After", strconv.Itoa(int(math.Ceil(full.Retry.Seconds()))))
			}
			s.give(c, stopped(ctx, err, refused(err, call.target, call.param)))
			return
		}
		ch := &choice{index: i, stream: stream}
		if call.parser != nil {
			ch.parser = call.parser()
		}
		if call.thoughts != nil {
			ch.thoughts = call.thoughts()
		}
		a.choices = append(a.choices, ch)
	}
	wait := a.merge()
	defer wait()
	defer cancel() // or there is no end to the wait
	if call.streamed {
		a.stream()
	} else {
		a.collect()
	}
	recordOf(c).details = a.describe()
}

// clientKey is where a context has who asks.
type clientKey struct{}

// WithClient names who asks, where that is known better than by the address that a request comes from.
func WithClient(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, clientKey{}, name)
}

// client says who asks, so that one does not crowd out another.
func client(c *gin.Context) string {
	if name, ok := c.Request.Context().Value(clientKey{}).(string); ok {
		return name
	}
	return c.RemoteIP()
}

// merge reads all choices into one channel, which is closed when all have ended or the context is done. wait returns
// when nothing is read any more.
func (a *answering) merge() (wait func()) {
	out := make(chan piece)
	a.pieces = out
	var readers sync.WaitGroup
	for _, ch := range a.choices {
		readers.Go(func() {
			for {
				event, err := ch.stream.Next(a.ctx)
				if errors.Is(err, io.EOF) {
					return
				}
				select {
				case out <- piece{ch, event, err}:
				case <-a.ctx.Done():
					return
				}
				if err != nil {
					return
				}
			}
		})
	}
	closed := make(chan struct{})
	go func() {
		readers.Wait()
		close(out)
		close(closed)
	}()
	return func() { <-closed }
}

// each hands the events of all choices on until all are over. Every tick in between goes to ping. The error is errGone,
// an *openai.Error to tell the client, or that of a handler.
func (a *answering) each(tick <-chan time.Time, ping func() error, handle func(*choice, sched.Event) error) error {
	for open := len(a.choices); open > 0; {
		select {
		case p, ok := <-a.pieces:
			if !ok || p.err != nil {
				return interrupted(a.ctx)
			}
			switch p.event.Finish {
			case sched.FinishCancelled:
				return interrupted(a.ctx)
			case sched.FinishError:
				return broken(p.event.Err)
			case "":
			default:
				p.choice.finish = string(p.event.Finish)
				open--
			}
			if a.first.IsZero() && len(p.event.Tokens) > 0 {
				a.first = time.Now()
			}
			if t := p.choice.thoughts; t != nil {
				t.add(p.event)
			}
			if err := handle(p.choice, p.event); err != nil {
				return err
			}
		case <-tick:
			if err := ping(); err != nil {
				return err
			}
		}
	}
	return nil
}

// collect sends the answer in one piece.
func (a *answering) collect() {
	err := a.each(nil, nil, func(ch *choice, e sched.Event) error {
		ch.text.WriteString(e.Text)
		if tokens := ch.shownTokens(e); a.requests[0].LogProbs {
			ch.tokens = append(ch.tokens, tokens...)
		}
		if a.traced {
			ch.traced = append(ch.traced, e.Tokens...)
		}
		return nil
	})
	if err != nil {
		a.server.give(a.gin, err)
		return
	}
	account, u := a.account()
	r := &openai.Routing{RoutingAccount: *account}
	if a.traced {
		r.Trace = []openai.TraceToken{}
	}
	for _, ch := range a.choices {
		r.Trace = append(r.Trace, a.trace(ch, ch.traced)...)
	}
	a.summarize(account)
	a.server.write(a.gin, http.StatusOK, a.form.whole(a.choices, u, r))
}

// summarize writes the account into headers, for those who do not read the body.
func (a *answering) summarize(r *openai.RoutingAccount) {
	counts := make([]string, len(a.target.Models))
	for i, name := range a.target.Models {
		counts[i] = fmt.Sprintf("%s=%d", name, r.Tokens[name])
	}
	a.gin.Header("X-TokenRouter-Route", r.Route)
	a.gin.Header("X-TokenRouter-Algorithm", r.Algorithm)
	a.gin.Header("X-TokenRouter-Tokens", strings.Join(counts, ", "))
	a.gin.Header("X-TokenRouter-Discarded", strconv.Itoa(r.Discarded))
	a.gin.Header("X-TokenRouter-Handoffs", strconv.Itoa(r.Handoffs))
}

// describe gives what the log says of an answer.
func (a *answering) describe() func(*zerolog.Event) {
	r, u := a.account()
	now := time.Now()
	return func(e *zerolog.Event) {
		e.Str("model", a.target.Name).Str("algorithm", r.Algorithm).Bool("stream", a.streamed).Uint64("seed", a.seed).
			Int("choices", len(a.choices)).Int("prompt_tokens", u.PromptTokens).Int("completion_tokens", u.CompletionTokens).
			Interface("tokens", r.Tokens).Int("discarded", r.Discarded).Int("handoffs", r.Handoffs)
		if r.Drafted > 0 {
			e.Int("drafted", r.Drafted).Int("accepted", r.Accepted)
		}
		if f := a.choices[0].finish; f != "" {
			e.Str("finish", f)
		}
		if a.first.IsZero() {
			return
		}
		e.Dur("first_token_ms", a.first.Sub(a.created))
		if took := now.Sub(a.first).Seconds(); u.CompletionTokens > len(a.choices) && took > 0 {
			e.Float64("tokens_per_second", float64(u.CompletionTokens-len(a.choices))/took)
		}
	}
}
