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
	if err := root.ExecuteContext(ctx); err != nil {
		report(aside, err)
		return 1
	}
	return 0
}

// report writes an error as the last thing that a user sees. An error that is to be silent has been reported.
func report(w io.Writer, err error) {
	var quiet silent
	if !errors.As(err, &quiet) {
		_, _ = fmt.Fprintf(w, "tokenrouter: %v\n", err) // there is nowhere else to say it
	}
}

// silent is an error that needs no words.
type silent struct{ error }
