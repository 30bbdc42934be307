package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/api"
)

// show writes the answer as it comes, and then its account.
func show(cmd *cobra.Command, t *api.Target, stream *sched.Stream, noColour bool) error {
	out, aside := cmd.OutOrStdout(), cmd.ErrOrStderr()
	coloured := wantsColour(out, noColour)
	if coloured && len(t.Models) > 1 {
		say(aside, legend(t.Models))
	}
	write, end := plain(out), func() error { return nil }
	if isTerminal(out) {
		p := newPainter(out, coloured)
		write, end = p.event, p.end
	}
	var first time.Time
	var last sched.Event
	for last.Finish == "" {
		// Not the command's context: what was written until an interruption, and its account, is shown.
		e, err := stream.Next(context.Background())
		if err != nil {
			return err
		}
		if first.IsZero() {
			first = time.Now()
		}
		if err := write(e); err != nil {
			stream.Cancel()
			return fmt.Errorf("write the answer: %w", err)
		}
		last = e
	}
	took := time.Since(first)
	if err := end(); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	if _, err := fmt.Fprintln(out); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	say(aside, account(t, stream.Summary(), took))
	switch last.Finish {
	case sched.FinishError:
		return last.Err
	case sched.FinishCancelled:
		return errInterrupted
	case sched.FinishLength:
		say(aside, "the answer was cut: --max-tokens or the context ended it")
	}
	return nil
}

// say writes a line beside the answer. If that cannot be written, the answer still can.
func say(w io.Writer, line string) { _, _ = fmt.Fprintln(w, line) }

// plain writes text as it is.
func plain(out io.Writer) func(sched.Event) error {
	return func(e sched.Event) error {
		_, err := io.WriteString(out, e.Text)
		return err
	}
}

// legend says which colour is whose.
func legend(models []string) string {
	parts := make([]string, len(models))
	for i, name := range models {
		parts[i] = "\x1b[" + colour(i) + "m■ " + name + "\x1b[0m"
	}
	return strings.Join(parts, "  ")
}

// account is the summary line.
func account(t *api.Target, s sched.Summary, took time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s in %.1f s", count(s.Completion, "token"), took.Seconds())
	if n := s.Completion - 1; n > 0 && took > 0 { // the first came before the clock began
		fmt.Fprintf(&b, ", %.1f tokens/s", float64(n)/took.Seconds())
	}
	if len(t.Models) == 1 {
		return b.String()
	}
	for i, name := range t.Models {
		fmt.Fprintf(&b, "%s %s %d (%.0f%%)", []string{":", ","}[min(i, 1)], name, s.Tokens[name], 100*float64(s.Tokens[name])/float64(max(s.Completion, 1)))
	}
	fmt.Fprintf(&b, "; %s, %s discarded", count(s.Handoffs, "handoff"), count(s.Discarded, "token"))
	if s.Drafted > 0 {
		fmt.Fprintf(&b, ", %d of %s right", s.Accepted, count(s.Drafted, "draft"))
	}
	return b.String()
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
