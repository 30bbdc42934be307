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

// shown is an answer that was shown, whole or not.
type shown struct {
	text    string
	finish  sched.FinishReason
	summary sched.Summary
	seconds float64 // from the first token to the last
}

// show writes the answer as it comes, and then its account.
func show(cmd *cobra.Command, t *api.Target, stream *sched.Stream, noColour bool) (shown, error) {
	out, aside := cmd.OutOrStdout(), cmd.ErrOrStderr()
	write, end := plain(out), func() error { return nil }
	if isTerminal(out) {
		p := newPainter(out, wantsColour(out, noColour))
		write, end = p.event, p.end
	}
	a, err := listen(stream, write)
	if err != nil {
		return a, err
	}
	if err := end(); err != nil {
		return a, fmt.Errorf("write the answer: %w", err)
	}
	if _, err := fmt.Fprintln(out); err != nil {
		return a, fmt.Errorf("write the answer: %w", err)
	}
	say(aside, account(t, a.summary, a.seconds))
	if a.finish == sched.FinishLength {
		say(aside, "the answer was cut: --max-tokens or the context ended it")
	}
	return a, nil
}

// listen takes an answer to its end. An answer that was cancelled is none that failed.
func listen(stream *sched.Stream, write func(sched.Event) error) (a shown, err error) {
	var first time.Time
	var text strings.Builder
	for a.finish == "" {
		// Not the command's context: what was written until an interruption, and its account, is shown.
		e, err := stream.Next(context.Background())
		if err != nil {
			return a, err
		}
		if first.IsZero() {
			first = time.Now()
		}
		if err := write(e); err != nil {
			stream.Cancel()
			return a, fmt.Errorf("write the answer: %w", err)
		}
		text.WriteString(e.Text)
		a.text, a.finish = text.String(), e.Finish
		if e.Finish == sched.FinishError {
			err = e.Err
		}
		if a.finish != "" {
			a.seconds, a.summary = time.Since(first).Seconds(), stream.Summary()
			return a, err
		}
	}
	return a, nil
}

// showLegend says which colour is whose, if there are colours and several models.
func showLegend(cmd *cobra.Command, t *api.Target, noColour bool) {
	if wantsColour(cmd.OutOrStdout(), noColour) && len(t.Models) > 1 {
		say(cmd.ErrOrStderr(), legend(t.Models))
	}
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
func account(t *api.Target, s sched.Summary, seconds float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s in %.1f s", count(s.Completion, "token"), seconds)
	if n := s.Completion - 1; n > 0 && seconds > 0 { // the first came before the clock began
		fmt.Fprintf(&b, ", %.1f tokens/s", float64(n)/seconds)
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
