package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tokenrouter/tokenrouter/models/gguf"
	"github.com/tokenrouter/tokenrouter/models/quantize"
	"github.com/tokenrouter/tokenrouter/sched"
)

func newQuantizeCommand() *cobra.Command {
	var library string
	var force bool
	cmd := &cobra.Command{
		Use:   "quantize IN.gguf OUT.gguf TYPE",
		Short: "Make another quantization of a GGUF file",
		Long: `Write the weight matrices of a GGUF file in another storage format, each weight rounded to the nearest value that the
format has. Norms, biases and the metadata stay as they are, but for the file type and the version of the block layouts. A matrix whose rows are no multiple of the format's block gets a
format with smaller blocks. A model in parts becomes one file.

Rounding is plain: files made with a search for better scales or with calibration data are better at 4 bits. Start from F16, BF16
or F32 weights where you can; weights that were quantized before lose a little twice.

TYPE is one of ` + strings.Join(quantize.Types(), ", ") + `.`,
		Example: "  tokenrouter quantize model-f16.gguf model-q8_0.gguf Q8_0",
		Args:    expects("the file to read", "the file to write", "the type of the weights"),
		RunE: func(cmd *cobra.Command, args []string) error {
			in, out := args[0], args[1]
			to, err := quantize.ParseType(args[2])
			if err != nil {
				return err
			}
			if _, err := os.Lstat(out); err == nil && !force {
				return fmt.Errorf("%s is there already; use --force to replace it", out)
			}
			f, err := gguf.Open(in)
			if err != nil {
				return err
			}
			converter, err := sched.OpenNativeConverter(library)
			if err != nil {
				return err
			}
			progress, done := quantizeBar(cmd.ErrOrStderr())
			report, err := quantize.File(cmd.Context(), out, f, to, converter, progress)
			done()
			if errors.Is(err, context.Canceled) {
				return errInterrupted
			}
			if err != nil {
				return err
			}
			return printReport(cmd.OutOrStdout(), out, f, to, report)
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace OUT.gguf if it is there")
	cmd.Flags().StringVar(&library, "library", "", "native library to load, `FILE`; default: the one built in")
	return cmd
}

// quantizeBar shows a bar if a person looks on.
func quantizeBar(out io.Writer) (progress func(done, total uint64), clear func()) {
	const steps = 1000
	set, clear := countBar(out, "quantizing", steps)
	return func(done, total uint64) { set(int(done * steps / max(total, 1))) }, clear
}

func printReport(w io.Writer, path string, in *gguf.File, to gguf.TensorType, r quantize.Report) error {
	var counts []string
	for _, t := range slices.Sorted(maps.Keys(r.Tensors)) {
		note := ""
		if r.Weights[t] > 0 && t != to {
			note = fmt.Sprintf(", as the rows of %d are no multiple of a block of %s", r.Weights[t], to)
		}
		counts = append(counts, fmt.Sprintf("%d tensors in %s%s", r.Tensors[t], t, note))
	}
	_, err := fmt.Fprintf(w, "%s: %s (was %s): %s\n", path, mebibytes(r.Bytes), mebibytes(in.Size), strings.Join(counts, "; "))
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
