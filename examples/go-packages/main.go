// Command go-packages embeds TokenRouter in a Go program: no HTTP, no other process. It lets the pair that is built in solve a
// problem and prints who wrote each token.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/tokenrouter/tokenrouter/models/chat"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/app"
	"github.com/tokenrouter/tokenrouter/server/config"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	question := "Sam earns $6 per hour. On Monday Sam works 8 hours and on Friday 7 hours. How much does Sam earn?"
	if len(os.Args) > 1 {
		question = strings.Join(os.Args[1:], " ")
	}
	if err := run(ctx, os.Stdout, question); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, question string) (err error) {
	// config.Load reads a file, config.Pair takes two GGUF files; this is the pair that needs neither.
	cfg, err := config.Demo()
	if err != nil {
		return err
	}
	loader, err := app.NewLoader(cfg, app.Options{})
	if err != nil {
		return err
	}
	runtime, err := loader.Load(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, runtime.Close(ctx)) }()

	target := runtime.Targets[0] // the route; each model alone comes after
	prompt, err := target.Text.Prompt(chat.Request{Messages: []chat.Message{chat.User(question)}})
	if err != nil {
		return err
	}
	stream, err := runtime.Engine.Submit(ctx, sched.Request{Target: target.Name, Prompt: prompt, MaxTokens: 200})
	if err != nil {
		return err
	}
	for {
		event, err := stream.Next(ctx)
		if err != nil {
			return err
		}
		for i := range event.Tokens {
			t := &event.Tokens[i]
			if _, err := fmt.Fprintf(out, "%-12s %q\n", target.Models[t.Info.Model], t.Text); err != nil {
				return err
			}
		}
		switch event.Finish {
		case "":
		case sched.FinishError:
			return event.Err
		default:
			sum := stream.Summary()
			_, err := fmt.Fprintf(out, "%d tokens, %d handoffs\n", sum.Completion, sum.Handoffs)
			return err
		}
	}
}
