// Command serve is the server with one algorithm more. Its argument is a configuration file.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/rs/zerolog"

	_ "example.com/custom-algorithm" // registers "opening"
	"github.com/tokenrouter/tokenrouter/server/app"
	"github.com/tokenrouter/tokenrouter/server/config"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%d arguments, expected one: a configuration file", len(args))
	}
	cfg, err := config.Load(args[0])
	if err != nil {
		return err
	}
	return app.Serve(ctx, cfg, app.Options{
		Log:   zerolog.New(os.Stderr),
		Ready: func(*app.Runtime) { fmt.Println("ready") },
		Listening: func(address string) {
			fmt.Println("http://" + address)
		},
	})
}
