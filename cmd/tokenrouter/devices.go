package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tokenrouter/tokenrouter/models/fetch"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/machine"
)

// newProbeCommand is what the program runs in another process to see whether a device can be opened.
func newProbeCommand() *cobra.Command {
	return &cobra.Command{
		Use:    machine.ProbeCommand + " OPTIONS",
		Short:  "Open a device and say what it is, for the program itself",
		Args:   cobra.ExactArgs(1),
		Hidden: true,
		RunE:   func(cmd *cobra.Command, args []string) error { return machine.ProbeChild(args[0], cmd.OutOrStdout()) },
	}
}

func newDevicesCommand() *cobra.Command {
	var asJSON bool
	var o sched.NativeOptions
	cmd := &cobra.Command{
		Use:   "devices",
		Short: "List what models can run on: the processor and the GPUs, and why one cannot be used",
		Long: `Open every device as serve would, each in a process of its own, and say what it is. A model runs on the one that its device in the
configuration names, or all on the one that run and serve are given with --device.`,
		Example: "  tokenrouter devices\n  tokenrouter devices --json | jq -r '.[] | select(.fault | not) | .kind'",
		Args:    expectsNone,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list := probeDevices(cmd.Context(), o)
			if cmd.Context().Err() != nil {
				return errInterrupted
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), list)
			}
			rows := [][]any{{"DEVICE", "", "MEMORY", "FREE", ""}}
			for i := range list {
				rows = append(rows, deviceRow(&list[i]))
			}
			return table(cmd.OutOrStdout(), rows...)
		},
	}
	addLibraryFlags(cmd, &o.Library, &o.CUDALibrary)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// addLibraryFlags adds the flags that name the two builds of the native library.
func addLibraryFlags(cmd *cobra.Command, library, cuda *string) {
	cmd.Flags().StringVar(library, "library", "", "native library to load, `FILE`; default: the one built in")
	cmd.Flags().StringVar(cuda, "cuda-library", "", "native library to load for GPUs, `FILE`; default: libtokenrouter-cuda.so beside the program, in ../lib, or in the system's directories")
}

// probeDevices opens the processor and every GPU. Where there is no GPU, the last entry says why.
func probeDevices(ctx context.Context, o sched.NativeOptions) []sched.NativeProbe {
	var p machine.Prober
	o.Kind = "cpu"
	cpu := p.Probe(ctx, o)
	cpu.Name = machine.FindCPU().Name
	m := machine.FindMemory()
	cpu.Memory, cpu.Free = m.Total, m.Available
	list := []sched.NativeProbe{cpu}
	for number, more := 0, 1; number < more; number++ {
		o.Kind = "cuda"
		if number > 0 {
			o.Kind = fmt.Sprint("cuda:", number)
		}
		gpu := p.Probe(ctx, o)
		list = append(list, gpu)
		more = max(more, len(gpu.GPUs))
	}
	return list
}

func deviceRow(p *sched.NativeProbe) []any {
	name, memory, free := p.Name, "", ""
	if p.Capability != "" {
		name += ", compute capability " + p.Capability
	}
	if p.Memory > 0 {
		memory = fetch.Size(p.Memory)
	}
	if p.Free > 0 {
		free = fetch.Size(p.Free)
	}
	return []any{p.Kind, name, memory, free, p.Reason}
}
