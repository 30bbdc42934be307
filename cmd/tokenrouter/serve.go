package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/sched/trace"
	"github.com/tokenrouter/tokenrouter/server/app"
)

func newServeCommand() *cobra.Command {
	var from source
	var listen, level, traceFile string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve models and routes over an OpenAI-compatible HTTP API",
		Long: `Load the models of a configuration and answer /v1/chat/completions, /v1/completions and /v1/models until SIGINT or
SIGTERM. Running answers may then go on for server.shutdown_timeout; a second signal ends at once.`,
		Example: `  tokenrouter serve --config tokenrouter.yaml
  tokenrouter serve --small small.gguf --large large.gguf --listen :8080`,
		Args: cobra.NoArgs,
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
			return app.Serve(cmd.Context(), cfg, app.Options{
				Log: log, Library: from.library, Version: version, Observer: observer,
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
