package app

import (
	"context"
	"errors"
	"fmt"
	stdlog "log"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/api"
	"github.com/tokenrouter/tokenrouter/server/config"
	"github.com/tokenrouter/tokenrouter/server/machine"
	"github.com/tokenrouter/tokenrouter/server/metrics"
)

// Limits on connections.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10
	// goodbye is how long cancelled requests have to tell their clients.
	goodbye = 2 * time.Second
)

// Serve answers requests over HTTP until ctx is done. Then it takes no more, lets running answers go on for the
// configured shutdown timeout, cancels what is left, and frees everything. It returns nil after such an end.
//
// The server listens before the models are loaded, and answers probes meanwhile.
func Serve(ctx context.Context, cfg *config.Config, o Options) error {
	counters := metrics.New()
	o.Observer = sched.Observers(counters.Observer(), o.Observer)
	loader, err := NewLoader(cfg, o)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", cfg.Server.Listen)
	if err != nil {
		return cfg.At("server.listen", fmt.Errorf("cannot listen: %w", err))
	}
	s := newServer(cfg, loader, o, counters)
	var failure error // of the HTTP server; to be read when ended is closed
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		failure = s.http.Serve(listener)
	}()
	o.Log.Info().Str("address", "http://"+listener.Addr().String()).Msg("listening")
	call(o.Listening, listener.Addr().String())
	call(o.Loading, loader)

	runtime, err := load(ctx, loader)
	if err != nil {
		s.stop()
		<-ended
		if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
			return nil // asked to end while loading: that is no failure
		}
		return err
	}
	counters.Watch(runtime.Engine)
	s.api.Ready(runtime.Targets, api.EngineOf(runtime.Engine))
	warnShort(o.Log, runtime.Targets)
	o.Log.Info().Int("targets", len(runtime.Targets)).Msg("ready")
	call(o.Ready, runtime)

	select {
	case <-ctx.Done():
		o.Log.Info().Stringer("shutdown_timeout", cfg.Server.ShutdownTimeout).Msg("shutting down")
		s.drain(time.Duration(cfg.Server.ShutdownTimeout))
		<-ended
	case <-ended:
		err = fmt.Errorf("the HTTP server ended: %w", failure)
		s.stop()
	}
	closing, cancel := context.WithTimeout(context.Background(), goodbye)
	defer cancel()
	err = errors.Join(err, runtime.Close(closing))
	o.Log.Info().Msg("stopped")
	return err
}

// warnShort tells the operator of models whose files could do more than the KV memory lets them. Routes are left out: their
// models have been named.
func warnShort(log zerolog.Logger, targets []api.Target) {
	for _, t := range targets {
		if len(t.Models) == 1 && t.Capacity < t.Context {
			log.Warn().Str("model", t.Name).Int("context", t.Context).Int("kv_tokens", t.Capacity).
				Msg("kv_memory limits the context of this model: longer requests are refused unless its device is given more")
		}
	}
}

func call[T any](hook func(T), with T) {
	if hook != nil {
		hook(with)
	}
}

// load loads, and gives up at once when ctx is done: what is being loaded then is freed when it is there.
func load(ctx context.Context, l *Loader) (*Runtime, error) {
	type result struct {
		runtime *Runtime
		err     error
	}
	done := make(chan result, 1)
	go func() {
		r, err := l.Load(ctx)
		done <- result{r, err}
	}()
	select {
	case r := <-done:
		return r.runtime, r.err
	case <-ctx.Done():
		go func() {
			if r := <-done; r.err == nil {
				_ = r.runtime.Close(ctx) // nobody is there to hear of it
			}
		}()
		return nil, context.Cause(ctx)
	}
}

// server is the HTTP side.
type server struct {
	api    *api.Server
	http   *http.Server
	cancel context.CancelCauseFunc // ends all requests
	log    zerolog.Logger
}

func newServer(cfg *config.Config, l *Loader, o Options, m *metrics.Metrics) *server {
	base, cancel := context.WithCancelCause(context.Background())
	a := api.New(api.Options{
		Log: o.Log, MaxBody: int64(cfg.Server.MaxBody), MaxPrompts: cfg.Batching.MaxLive + cfg.Batching.MaxQueue,
		RequestTimeout: time.Duration(cfg.Server.RequestTimeout), Loading: l.Progress, Resident: machine.Resident, Metrics: m.Handler(),
	})
	return &server{api: a, cancel: cancel, log: o.Log, http: &http.Server{
		Handler: a, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return base },
		ErrorLog:    stdlog.New(debugWriter{o.Log}, "", 0),
	}}
}

// drain waits for running requests, at most so long, and then cancels them.
func (s *server) drain(most time.Duration) {
	s.api.Drain()
	patience, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	if s.http.Shutdown(patience) == nil {
		s.cancel(nil)
		return
	}
	s.log.Warn().Msg("answers were still running at the end of the shutdown timeout; they are cancelled")
	s.cancel(api.ErrShutdown)
	words, cancel := context.WithTimeout(context.Background(), goodbye)
	defer cancel()
	if s.http.Shutdown(words) != nil {
		s.stop()
	}
}

// stop ends everything at once.
func (s *server) stop() {
	s.cancel(api.ErrShutdown)
	_ = s.http.Close() // of the listener, which may be closed already
}

// debugWriter takes what net/http has to say of bad connections.
type debugWriter struct{ log zerolog.Logger }

func (w debugWriter) Write(p []byte) (int, error) {
	w.log.Debug().Str("component", "http").Msg(strings.TrimSpace(string(p)))
	return len(p), nil
}
