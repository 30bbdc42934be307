package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tokenrouter/tokenrouter/sched/simulate"
	"github.com/tokenrouter/tokenrouter/sched/throughput"
)

func newPlanCommand() *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:   "plan [SCENARIO.yaml]",
		Short: "Predict the throughput of a route: whether it pays, and how long its models should wait for a batch",
		Long: `Predict tokens per second of models that write together, by the number of live requests and the batching threshold B: a model
starts a step when at least B requests wait for it. Nothing is run: what is needed is how long steps take and how requests
go between the models, from flags or from a scenario of the simulate command.

A latency is 8ms (a step), 8ms+0.02ms (a step, and each row of it), or times at numbers of rows, "1:8ms 16:9ms". Rows are the
tokens that a step takes in: a large model takes in all that the small one wrote since its last step.`,
		Example: `  tokenrouter plan --step 2ms+0.02ms --step 8ms+0.02ms --share 0.1 --requests 1,4,8,16,32
  tokenrouter plan --step 6ms --step 27.9ms --share 0.35 --requests 4 --apart
  tokenrouter plan examples/scenarios/ensemble.yaml --svg plan.svg`,
		Args: expectsAtMost("one scenario, a YAML file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.scenario(cmd, args)
			if err != nil {
				return err
			}
			forecasts, err := f.forecasts(s)
			if err != nil {
				return err
			}
			if f.svg != "" {
				if err := os.WriteFile(f.svg, planPlot(forecasts).render(), 0o644); err != nil {
					return fmt.Errorf("--svg: %w", err)
				}
			}
			if f.json {
				text, err := json.MarshalIndent(forecasts, "", "  ")
				if err != nil {
					return fmt.Errorf("write the plan: %w", err)
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", text)
				return err
			}
			return printPlan(cmd.OutOrStdout(), forecasts)
		},
	}
	fs := cmd.Flags()
	fs.IntSliceVarP(&f.requests, "requests", "n", nil, "live requests, one number or several")
	fs.StringArrayVar(&f.steps, "step", nil, "`LATENCY` of a model's steps; once per model, the entry first")
	fs.Float64Var(&f.share, "share", 0, "two models: probability that the small one hands a token over")
	fs.Float64Var(&f.back, "back", 1, "two models: probability that the large one hands back after a token")
	fs.Float64SliceVar(&f.weights, "weights", nil, "any number of models: probability that each writes the next token")
	fs.BoolVar(&f.apart, "apart", false, "each model has a device of its own; otherwise they take turns on one")
	fs.BoolVar(&f.json, "json", false, "write JSON")
	fs.StringVar(&f.svg, "svg", "", "also draw a plot into `FILE`")
	cmd.MarkFlagsMutuallyExclusive("share", "weights")
	return cmd
}

type planFlags struct {
	requests    []int
	steps       []string
	share, back float64
	weights     []float64
	apart, json bool
	svg         string
}

// scenario puts together what is to be planned.
func (f *planFlags) scenario(cmd *cobra.Command, args []string) (*simulate.Scenario, error) {
	if len(args) == 1 {
		for _, name := range []string{"step", "share", "back", "weights", "apart"} {
			if cmd.Flags().Changed(name) {
				return nil, fmt.Errorf("--%s: the scenario says that", name)
			}
		}
		return readScenario(args[0])
	}
	if len(f.steps) == 0 {
		return nil, errors.New("nothing to plan: give a scenario, or --step for each model with --share or --weights")
	}
	s := &simulate.Scenario{Requests: 1, Routing: simulate.Routing{Weights: f.weights}}
	if cmd.Flags().Changed("share") {
		s.Routing.Share = &f.share
	}
	if cmd.Flags().Changed("back") {
		s.Routing.Back = &f.back
	}
	for i, latency := range f.steps {
		m := simulate.Model{Name: fmt.Sprintf("model %d", i+1), Latency: latency, Device: "shared"}
		if f.apart {
			m.Device = m.Name
		}
		s.Models = append(s.Models, m)
	}
	return s, nil
}

// forecast is what is predicted for one number of requests.
type forecast struct {
	Requests int                `json:"requests"`
	Alone    float64            `json:"large_alone"` // tokens per second of the last model by itself
	Eager    throughput.Point   `json:"eager"`
	Best     throughput.Point   `json:"best"`
	Curve    []throughput.Point `json:"curve,omitempty"` // two models: by the threshold of the large one
	Pays     bool               `json:"routing_pays"`    // faster than the large model alone
}

func (f *planFlags) forecasts(s *simulate.Scenario) ([]forecast, error) {
	requests := slices.Clone(f.requests)
	if len(requests) == 0 {
		requests = []int{s.Requests}
		if s.Requests == 1 {
			requests = []int{1, 2, 4, 8, 16, 32}
		}
	}
	const most = 128
	var list []forecast
	for _, n := range requests {
		if n < 1 || n > most {
			return nil, fmt.Errorf("--requests: %d is not 1 to %d", n, most)
		}
		system, err := s.System()
		if err != nil {
			return nil, err
		}
		system.Requests = n
		o, err := system.Optimum()
		if err != nil {
			return nil, err
		}
		alone := system.Alone(len(system.Latencies) - 1)
		list = append(list, forecast{n, alone, o.Eager, o.Best, o.Curve, o.Best.Throughput > alone})
	}
	return list, nil
}

// readScenario reads a scenario from a file.
func readScenario(path string) (*simulate.Scenario, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the scenario: %w", err)
	}
	s, err := simulate.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}
