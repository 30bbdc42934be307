package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/sched/simulate"
)

func newSimulateCommand() *cobra.Command {
	var policy, traceFile string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "simulate SCENARIO.yaml",
		Short: "Run the scheduler on models that need not exist, on a virtual clock",
		Long: `Run the scheduler as it is, with runners that only know how long a step takes, on a clock that jumps: minutes of 128 requests
on GPUs that nobody has take seconds. examples/scenarios has scenarios, with what can be said in one.`,
		Example: `  tokenrouter simulate examples/scenarios/gpu-pair.yaml
  tokenrouter simulate examples/scenarios/two-gpus.yaml --policy all`,
		Args: expects("a scenario, a YAML file"),
		RunE: func(cmd *cobra.Command, args []string) (failure error) {
			if traceFile != "" && policy == "all" {
				return errors.New("--trace: of which policy? Times of several would lie on one another")
			}
			s, err := readScenario(args[0])
			if err != nil {
				return err
			}
			observer, end, err := traceTo(traceFile)
			if err != nil {
				return err
			}
			defer func() { failure = errors.Join(failure, end()) }()
			reports, err := compare(s, policy, observer)
			if err != nil {
				return err
			}
			if asJSON {
				text, err := json.MarshalIndent(reports, "", "  ")
				if err != nil {
					return fmt.Errorf("write the report: %w", err)
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", text)
				return err
			}
			return printReports(cmd.OutOrStdout(), reports)
		},
	}
	cmd.Flags().StringVar(&policy, "policy", "", "lazy, eager, step-sync, model-sync, or all of them to compare; default: as the scenario says")
	cmd.Flags().StringVar(&traceFile, "trace", "", "write what the scheduler does to `FILE`, for ui.perfetto.dev; of a single policy")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

// compare runs a scenario under its own policy, another one, or all. The observer, which may be nil, sees them all.
func compare(s *simulate.Scenario, policy string, observer *sched.Observer) ([]*simulate.Report, error) {
	type run struct {
		policy sched.Policy
		order  sched.Order
	}
	runs := []run{{s.Batching.Policy, s.Batching.Order}}
	switch policy {
	case "":
	case "all":
		runs = []run{{sched.Lazy, ""}, {sched.Eager, sched.LargeFirst}, {sched.Eager, sched.SmallFirst}, {sched.ModelSync, ""}, {sched.StepSync, ""}}
	default:
		runs = []run{{sched.Policy(policy), s.Batching.Order}}
	}
	var reports []*simulate.Report
	for _, r := range runs {
		s.Batching.Policy, s.Batching.Order = r.policy, r.order
		report, err := s.Run(observer)
		if err != nil {
			return nil, err
		}
		reports = append(reports, report)
	}
	return reports, nil
}

// printReports writes a line per policy, and what the models did under each.
func printReports(out io.Writer, reports []*simulate.Report) error {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(w, "policy\ttokens/s\tanswers\tfirst token\t95%\tmodel\tshare\tsteps\tbatch\trows\tbusy\tB\t") // a Builder takes all
	for _, r := range reports {
		name := string(r.Policy)
		if r.Order != "" {
			name += " " + string(r.Order)
		}
		for i, m := range r.Models {
			lead := "\t\t\t\t\t"
			if i == 0 {
				lead = fmt.Sprintf("%s\t%.1f\t%d\t%s\t%s\t", name, r.Throughput, r.Answers, brief(r.Median), brief(r.Tail))
			}
			_, _ = fmt.Fprintf(w, "%s%s\t%.1f%%\t%d\t%.1f\t%.1f\t%.0f%%\t%d\t\n", lead, m.Name, 100*m.Share, m.Steps, m.Batch, m.Rows, 100*m.Busy, m.Threshold)
		}
	}
	_ = w.Flush()
	for _, r := range reports {
		if len(r.Phases) > 0 {
			_, _ = fmt.Fprintf(&b, "\n%s, tokens/s before, between and after the changes:", r.Policy)
			for _, x := range r.Phases {
				_, _ = fmt.Fprintf(&b, " %.1f", x)
			}
			b.WriteByte('\n')
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// brief shows seconds.
func brief(seconds float64) string {
	return time.Duration(seconds * float64(time.Second)).Round(100 * time.Microsecond).String()
}
