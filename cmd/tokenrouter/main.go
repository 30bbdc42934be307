// Command tokenrouter serves several language models that write one answer together, token by token.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(execute(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// execute runs the command line and returns the exit status.
func execute(args []string, in io.Reader, out, aside io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first signal asks for an orderly end; from then on signals have their usual effect, so that a second one ends
	// the process at once.
	context.AfterFunc(ctx, stop)

	root := newRootCommand()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(aside)
	addCompletion(root)
	switch err := root.ExecuteContext(ctx); {
	case err == nil:
		return 0
	case errors.Is(err, errInterrupted):
		return statusInterrupted // whoever interrupted knows
	default:
		_, _ = fmt.Fprintf(aside, "tokenrouter: %v\n", err) // there is nowhere else to say it
		return 1
	}
}

// errInterrupted says that a signal ended a command before it was done.
var errInterrupted = errors.New("interrupted")

// statusInterrupted is the exit status of shells for it: 128 and SIGINT.
const statusInterrupted = 130
