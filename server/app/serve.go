package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	stdlog "log"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
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
	o.Observer = sched.Observers(counters.Observer(), o.Observer, &sched.Observer{Lost: func(device string, err error) {
		o.Log.Error().Str("device", device).Err(err).Msg("the device is lost: its models fail until the server is restarted")
	}})
	loader, err := NewLoader(cfg, o)
	if err != nil {
		return err
	}
	s, err := newServer(cfg, loader, o, counters)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", cfg.Server.Listen)
	if err != nil {
		return cfg.At("server.listen", fmt.Errorf("cannot listen: %w%s", err, listenAdvice(err)))
	}
	var failure error // of the HTTP server; to be read when ended is closed
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		failure = s.listen(listener)
	}()
	o.Log.Info().Str("address", s.scheme()+"://"+listener.Addr().String()).Msg("listening")
	s.warnOpen(listener.Addr())
	call(o.Listening, listener.Addr().String())
	call(o.Loading, loader)

	runtime, err := load(ctx, loader)
	if err != nil {
		s.stop()
		s.leave()
		<-ended
		if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
			return nil // asked to end while loading: that is no failure
		}
		return err
	}
	s.engine.replace(runtime, loader, time.Duration(cfg.Server.IdleUnload), 0)
	counters.Watch(s.engine.Snapshot)
	s.targets = runtime.Targets
	s.api.Ready(s.targets, s.engine)
	warnShort(o.Log, runtime.Targets)
	o.Log.Info().Int("targets", len(runtime.Targets)).Msg("ready")
	call(o.Ready, runtime)
	var watching sync.WaitGroup
	watching.Go(s.engine.watch)

	err = s.run(ctx, o, ended)
	s.leave()
	watching.Wait()
	if err != nil {
		err = fmt.Errorf("%w: %w", err, failure)
	}
	closing, cancel := context.WithTimeout(context.Background(), goodbye)
	defer cancel()
	err = errors.Join(err, s.engine.end(closing))
	o.Log.Info().Msg("stopped")
	return err
}

// listenAdvice says what to do where an address cannot be listened at.
func listenAdvice(err error) string {
	var address *net.AddrError
	switch {
	case errors.As(err, &address):
		return "; expected HOST:PORT such as 127.0.0.1:8080, or :8080 for all addresses"
	case errors.Is(err, syscall.EADDRINUSE):
		return "; another program listens there: end it, or choose another address"
	}
	return ""
}

// run serves until it is to end, and lets running answers end.
func (s *server) run(ctx context.Context, o Options, ended <-chan struct{}) error {
	for {
		select {
		case <-o.Reload:
			s.reload(ctx, o)
		case <-ctx.Done():
			patience := s.cfg.Server.ShutdownTimeout
			s.log.Info().Stringer("shutdown_timeout", patience).Msg("shutting down")
			s.drain(time.Duration(patience))
			<-ended
			return nil
		case <-ended:
			s.stop()
			return errors.New("the HTTP server ended")
		}
	}
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

// server is the HTTP side. Its fields but front and engine are those of the goroutine that serves.
type server struct {
	cfg     *config.Config
	front   *front
	api     *api.Server
	engine  *live
	targets []api.Target
	metrics *metrics.Metrics
	http    *http.Server
	cancel  context.CancelCauseFunc // ends all requests
	leave   context.CancelFunc      // tells the engine that the server ends
	log     zerolog.Logger
}

func newServer(cfg *config.Config, l *Loader, o Options, m *metrics.Metrics) (*server, error) {
	base, cancel := context.WithCancelCause(context.Background())
	staying, leave := context.WithCancel(context.Background())
	s := &server{
		cfg: cfg, front: &front{log: o.Log}, engine: newLive(staying, o.Log), metrics: m, cancel: cancel, leave: leave, log: o.Log,
	}
	s.api = s.newAPI(cfg, l, o)
	door, err := newDoor(cfg, s.api)
	if err != nil {
		cancel(nil)
		leave()
		return nil, err
	}
	s.front.door.Store(door)
	s.http = &http.Server{
		Handler: s.front, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return base },
		ErrorLog:    stdlog.New(debugWriter{o.Log}, "", 0),
		TLSConfig:   &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: s.front.certificate},
	}
	return s, nil
}

// newAPI makes the handler that a configuration wants; not ready yet.
func (s *server) newAPI(cfg *config.Config, l *Loader, o Options) *api.Server {
	return api.New(api.Options{
		Log: o.Log, MaxBody: int64(cfg.Server.MaxBody), MaxPrompts: cfg.Batching.MaxLive + cfg.Batching.MaxQueue,
		RequestTimeout: time.Duration(cfg.Server.RequestTimeout), Loading: l.Progress, Resident: machine.Resident, Metrics: s.metrics.Handler(), Version: o.Version,
	})
}

// scheme is how the server is reached.
func (s *server) scheme() string {
	if s.front.door.Load().cert != nil {
		return "https"
	}
	return "http"
}

// listen serves until the server is shut down.
func (s *server) listen(l net.Listener) error {
	if s.scheme() == "https" {
		return s.http.ServeTLS(l, "", "")
	}
	return s.http.Serve(l)
}

// warnOpen tells the operator when everybody on the network is let in.
func (s *server) warnOpen(at net.Addr) {
	tcp, ok := at.(*net.TCPAddr)
	if ok && !tcp.IP.IsLoopback() && len(s.front.door.Load().keys) == 0 {
		s.log.Warn().Msg("whoever reaches this address may use the models: set server.api_keys, or listen on 127.0.0.1")
	}
}

// drain waits for running requests, at most so long, and then cancels them. Until then probes are told, and further requests
// refused in words: that says more than a port where nobody listens.
func (s *server) drain(most time.Duration) {
	s.api.Drain()
	s.http.SetKeepAlivesEnabled(false)
	patience, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	select {
	case <-s.front.requests.wait():
	case <-patience.Done():
	}
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
