package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tokenrouter/tokenrouter/models/fetch"
)

func (d *diagnosis) json(cmd *cobra.Command) error { return printJSON(cmd.OutOrStdout(), d) }

// text writes the diagnosis for people.
func (d *diagnosis) text(cmd *cobra.Command) error {
	out := cmd.OutOrStdout()
	coloured := wantsColour(out, false)
	for _, c := range d.Checks {
		if _, err := fmt.Fprintf(out, "%s  %-13s  %s\n", mark(c.Verdict, coloured), c.Name, c.Found); err != nil {
			return err
		}
		if c.Advice != "" {
			if _, err := fmt.Fprintf(out, "%24s %s\n", "->", c.Advice); err != nil {
				return err
			}
		}
	}
	rows := [][]any{{"\nPAIR", "FITS", "WHY", "LARGE MODEL ALONE", "TO PULL"}}
	for _, f := range d.Pairs {
		pull, speed := "here", ""
		if f.Missing {
			pull = "~" + fetch.Size(f.ToPull)
		}
		if f.AtMost > 0 {
			speed = fmt.Sprintf("at most %.2g tokens/s", f.AtMost)
		}
		rows = append(rows, []any{f.Pair, map[bool]string{true: "yes", false: "no"}[f.Fits], f.Why, speed, pull})
	}
	rows = append(rows, []any{"demo", "yes", "built in", "", "here"})
	return table(out, rows...)
}

// mark is how a verdict is shown.
func mark(v verdict, coloured bool) string {
	text := map[verdict]string{good: "ok     ", warn: "warning", bad: "PROBLEM"}[v]
	if !coloured {
		return text
	}
	return "\x1b[" + map[verdict]string{good: "32", warn: "33", bad: "31"}[v] + "m" + text + "\x1b[0m"
}
