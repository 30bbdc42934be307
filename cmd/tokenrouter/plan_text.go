package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// printPlan writes the forecasts as tables: one line per number of requests, and for a single number the curve over B.
func printPlan(out io.Writer, list []forecast) error {
	var b strings.Builder
	b.WriteString("tokens/s, all requests together\n\n")
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(w, "requests\tlarge alone\teager\tlazy\tB*\tover eager\tper request\trouting pays\t") // a Builder takes all
	for _, f := range list {
		_, _ = fmt.Fprintf(w, "%d\t%.1f\t%.1f\t%.1f\t%s\t%+.1f%%\t%.1f\t%s\t\n", f.Requests, f.Alone, f.Eager.Throughput, f.Best.Throughput,
			thresholds(f.Best.Thresholds), 100*(f.Best.Throughput/f.Eager.Throughput-1), f.Best.Throughput/float64(f.Requests), pays(f))
	}
	_ = w.Flush()
	if len(list) == 1 && len(list[0].Curve) > 1 {
		b.WriteString("\n  B  tokens/s\n")
		most := 0.0
		for _, p := range list[0].Curve {
			most = max(most, p.Throughput)
		}
		for _, p := range list[0].Curve {
			_, _ = fmt.Fprintf(&b, "%3d  %8.1f  %s\n", p.Thresholds[1], p.Throughput, strings.Repeat("█", int(40*p.Throughput/most)))
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// pays says how the route compares with the large model alone.
func pays(f forecast) string {
	ratio := f.Best.Throughput / f.Alone
	if f.Pays {
		return fmt.Sprintf("yes, %.2fx", ratio)
	}
	return fmt.Sprintf("no, %.2fx", ratio)
}

// thresholds shows those of all models but the entry, unless that waits, too.
func thresholds(b []int) string {
	parts := make([]string, len(b))
	for i, x := range b {
		parts[i] = fmt.Sprint(x)
	}
	if len(parts) > 1 && b[0] == 1 {
		parts = parts[1:]
	}
	return strings.Join(parts, ",")
}
