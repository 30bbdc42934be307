package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/tokenrouter/tokenrouter/server/app"
)

func newServeCommand() *cobra.Command {
	var from source
	var listen, level string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve models and routes over an OpenAI-compatible HTTP API",
		Long: `Load the models of a configuration and answer /v1/chat/completions, /v1/completions and /v1/models until SIGINT or
SIGTERM. Running answers may then go on for server.shutdown_timeout; a second signal ends at once.`,
		Example: `  tokenrouter serve --config tokenrouter.yaml
  tokenrouter serve --small small.gguf --large large.gguf --listen :8080`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
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
			return app.Serve(cmd.Context(), cfg, app.Options{
				Log: log, Library: from.library, Version: version,
				Loading: func(l *app.Loader) { done = watch(aside, l) },
				Ready:   func(*app.Runtime) { done() },
			})
		},
	}
	from.addFlags(cmd)
	cmd.Flags().StringVar(&listen, "listen", "", "`ADDRESS` to listen on, such as 127.0.0.1:8080 or :8080; default: as configured")
	cmd.Flags().StringVar(&level, "log-level", "", "debug, info, warn or error; default: as configured")
	return cmd
}
