package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/sched/trace"
	"github.com/tokenrouter/tokenrouter/server/app"
	"github.com/tokenrouter/tokenrouter/server/config"
)

func newServeCommand() *cobra.Command {
	var from source
	var listen, level, traceFile string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve models and routes over an OpenAI-compatible HTTP API",
		Long: `Load the models of a configuration and answer /v1/chat/completions, /v1/completions and /v1/models until SIGINT or
SIGTERM. Running answers may then go on for server.shutdown_timeout; a second signal ends at once. SIGHUP reads the configuration
again; docs/operations.md says what of it holds without a restart.`,
		Example: `  tokenrouter serve --config tokenrouter.yaml
  tokenrouter serve --small small.gguf --large large.gguf --listen :8080`,
		Args: expectsNone,
		RunE: func(cmd *cobra.Command, _ []string) (failure error) {
			cfg, err := from.load()
			if err != nil {
				return err
			}
			cfg.Server.Listen = cmp.Or(listen, cfg.Server.Listen)
			aside := newScreen(cmd.ErrOrStderr())
			log, err := newLog(aside, cmp.Or(level, cfg.Server.LogLevel), cfg.Server.LogFormat)
			if err != nil {
				return err
			}
			done := func() {}
			defer func() { done() }()
			observer, end, err := traceTo(traceFile)
			if err != nil {
				return err
			}
			defer func() { failure = errors.Join(failure, end()) }()
			reload, forget := hangups()
			defer forget()
			return app.Serve(cmd.Context(), cfg, app.Options{
				Log: log, Library: from.library, CUDALibrary: from.cudaLibrary, Version: version, Observer: observer,
				Reload: reload,
				Configure: func() (*config.Config, error) {
					cfg, err := from.load()
					if err == nil {
						cfg.Server.Listen = cmp.Or(listen, cfg.Server.Listen)
					}
					return cfg, err
				},
				Loading: func(l *app.Loader) { done = watch(aside, l) },
				Ready:   func(*app.Runtime) { done() },
			})
		},
	}
	from.addFlags(cmd)
	cmd.Flags().StringVar(&listen, "listen", "", "`ADDRESS` to listen on, such as 127.0.0.1:8080 or :8080; default: as configured")
	cmd.Flags().StringVar(&level, "log-level", "", "debug, info, warn or error; default: as configured")
	cmd.Flags().StringVar(&traceFile, "trace", "", "write what the scheduler does to `FILE`, for ui.perfetto.dev")
	return cmd
}

// hangups hears of SIGHUP, by which an operator says that the configuration has changed.
func hangups() (heard <-chan struct{}, forget func()) {
	signals, out := make(chan os.Signal, 1), make(chan struct{}, 1)
	quit, ended := make(chan struct{}), make(chan struct{})
	signal.Notify(signals, syscall.SIGHUP)
	go func() {
		defer close(ended)
		for {
			select {
			case <-signals:
			case <-quit:
				return
			}
			select {
			case out <- struct{}{}:
			default: // one is waiting already
			}
		}
	}()
	return out, func() {
		signal.Stop(signals)
		close(quit)
		<-ended
	}
}

// traceTo records an engine in a file: an observer for it, and what ends the trace. Without a file both do nothing.
func traceTo(file string) (*sched.Observer, func() error, error) {
	if file == "" {
		return nil, func() error { return nil }, nil
	}
	f, err := os.Create(file)
	if err != nil {
		return nil, nil, fmt.Errorf("--trace: %w", err)
	}
	w := trace.New(f)
	return w.Observer(), func() error { return errors.Join(w.Close(), f.Close()) }, nil
}
