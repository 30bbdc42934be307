package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/sched/measure"
	"github.com/tokenrouter/tokenrouter/server/machine"
)

// benchFlags are what to measure.
type benchFlags struct {
	batches, contexts             []int
	extends, extendBatches        []int
	prefill, chunk, extendContext int
	steps, runs, threads          int
	library, cudaLibrary          string
	device, isa, head             string
	asJSON, shared, copied        bool
}

func newBenchCommand() *cobra.Command {
	var b benchFlags
	cmd := &cobra.Command{
		Use:   "bench FILE.gguf",
		Short: "Measure how fast a model runs on this machine",
		Long: `Time bare forward passes of a model: prefill of a prompt, decoding at several batch sizes, and extending sequences by
a few tokens, which is what returns from another model cost. With --head, decoding is timed again with rows that the router
head scores. Medians of several steps; no server is involved.`,
		Example: `  tokenrouter bench model.gguf
  tokenrouter bench model.gguf --batch 1,8 --context 128,4096 --json
  tokenrouter bench model.gguf --head head.gguf --batch 8 --prefill 0`,
		Args: expects("a GGUF file"),
		RunE: func(cmd *cobra.Command, args []string) error { return b.run(cmd, args[0]) },
	}
	f := cmd.Flags()
	f.IntSliceVar(&b.batches, "batch", []int{1, 4, 8, 16, 32}, "batch `SIZES` of decoding")
	f.IntSliceVar(&b.contexts, "context", []int{128}, "`TOKENS` of context before decoding starts, one or several")
	f.IntVar(&b.prefill, "prefill", 512, "`TOKENS` of the prompt; 0: none")
	f.IntVar(&b.chunk, "chunk", 512, "most `TOKENS` of a prompt in a step")
	f.IntSliceVar(&b.extends, "extend", []int{4, 8}, "`TOKENS` that an extend appends")
	f.IntSliceVar(&b.extendBatches, "extend-batch", []int{1}, "batch `SIZES` of extending")
	f.IntVar(&b.extendContext, "extend-context", 1024, "`TOKENS` of context before an extend")
	f.IntVar(&b.steps, "steps", 32, "timed steps of decoding and extending")
	f.IntVar(&b.runs, "runs", 3, "timed runs of the prefill")
	f.BoolVar(&b.shared, "shared", false, "the sequences of a decode batch share their context's pages, as with a common prompt")
	f.BoolVar(&b.copied, "copied", false, "the context is computed once and copied to the other sequences of a batch: the same memory is read, and it is there sooner")
	f.IntVar(&b.threads, "threads", 0, "threads of a step; 0: all cores")
	f.StringVar(&b.isa, "isa", "", "instruction `SET`: avx512vnni, avxvnni, avx2 or reference; default: the best")
	addLibraryFlags(cmd, &b.library, &b.cudaLibrary)
	f.StringVar(&b.device, "device", "cpu", "`DEVICE` to run on: cpu, cuda, cuda:1")
	f.StringVar(&b.head, "head", "", "router head to time decoding with, too, a GGUF `FILE`")
	f.BoolVar(&b.asJSON, "json", false, "print one JSON object per line")
	return cmd
}

// cases are what the flags ask for.
func (b *benchFlags) cases() ([]measure.Case, error) {
	var all []measure.Case
	positive := func(flag string, values ...int) error {
		for _, v := range values {
			if v < 1 {
				return fmt.Errorf("--%s: expected 1 or more, found %d", flag, v)
			}
		}
		return nil
	}
	err := errors.Join(positive("batch", b.batches...), positive("context", b.contexts...), positive("extend", b.extends...), positive("extend-batch", b.extendBatches...),
		positive("chunk", b.chunk), positive("extend-context", b.extendContext), positive("steps", b.steps), positive("runs", b.runs))
	if err != nil {
		return nil, err
	}
	if b.prefill < 0 || b.threads < 0 {
		return nil, errors.New("--prefill and --threads: expected 0 or more")
	}
	for _, context := range b.contexts {
		for _, n := range b.batches {
			all = append(all, measure.Case{Kind: measure.Decode, Batch: n, Tokens: 1, Context: context})
			if b.head != "" {
				all = append(all, measure.Case{Kind: measure.Scored, Batch: n, Tokens: 1, Context: context})
			}
		}
	}
	if b.prefill > 0 {
		all = append(all, measure.Case{Kind: measure.Prefill, Batch: 1, Tokens: b.prefill})
	}
	for _, batch := range b.extendBatches {
		for _, n := range b.extends {
			all = append(all, measure.Case{Kind: measure.Extend, Batch: batch, Tokens: n, Context: b.extendContext})
		}
	}
	return all, nil
}

func (b *benchFlags) run(cmd *cobra.Command, path string) (err error) {
	cases, err := b.cases()
	if err != nil {
		return err
	}
	device, err := b.open(cmd.Context())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, device.Close()) }()
	model, err := loadModel(cmd.ErrOrStderr(), device, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, model.Close()) }()
	var head *sched.NativeHead
	if b.head != "" {
		if head, err = model.LoadHead(b.head); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, head.Close()) }()
	}

	out := cmd.OutOrStdout()
	show := benchLines(out)
	if !b.asJSON {
		info := model.Info()
		if _, err := fmt.Fprintf(out, "%s, %s, %d threads, %s\n\n", info.Name, info.Architecture, device.Threads(), device.ISA()); err != nil {
			return fmt.Errorf("write: %w", err)
		}
		show = benchTable(out)
	}
	for _, c := range cases {
		if cmd.Context().Err() != nil {
			return errInterrupted
		}
		f, err := measure.Run(model, c, measure.Options{Chunk: b.chunk, Steps: b.steps, Runs: b.runs, Head: head, Shared: b.shared, Copied: b.copied})
		if err != nil {
			return err
		}
		if err := show(f); err != nil {
			return fmt.Errorf("write a figure: %w", err)
		}
	}
	return nil
}

// open opens the device, a GPU after another process has tried to.
func (b *benchFlags) open(ctx context.Context) (*sched.NativeDevice, error) {
	o := sched.NativeOptions{Library: b.library, CUDALibrary: b.cudaLibrary, Kind: b.device, Threads: b.threads, ISA: b.isa}
	if sched.IsCUDA(b.device) {
		probe := machine.Prober{}.Probe(ctx, o)
		if err := probe.Err(); err != nil {
			return nil, fmt.Errorf("--device %s: %w", b.device, err)
		}
	}
	return sched.OpenNativeDevice(o)
}

// benchLines writes each figure as a line of JSON.
func benchLines(out io.Writer) func(measure.Figure) error {
	e := json.NewEncoder(out)
	return func(f measure.Figure) error { return e.Encode(f) }
}

// benchTable writes a table whose lines appear as they come.
func benchTable(out io.Writer) func(measure.Figure) error {
	const widths = "%-8s %6v %7v %8v %12v %12v\n"
	headed := false
	return func(f measure.Figure) error {
		if !headed {
			headed = true
			if _, err := fmt.Fprintf(out, widths, "", "batch", "tokens", "context", "ms per step", "tokens/s"); err != nil {
				return err
			}
		}
		_, err := fmt.Fprintf(out, widths, f.Kind, f.Batch, f.Tokens, f.Context, fmt.Sprintf("%.2f", f.StepMillis), fmt.Sprintf("%.1f", f.TokensPerSecond))
		return err
	}
}
