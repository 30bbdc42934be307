package main

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/tokenrouter/tokenrouter/sched"
)

// version of the program; a release sets it with -ldflags "-X main.version=1.2.3".
var version = "0.1.0-dev"

func newVersionCommand() *cobra.Command {
	var library string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of the program and of its native library",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// The program's own line comes first, and also when the library cannot be used.
			if _, err := fmt.Fprintf(cmd.OutOrStdout(), "tokenrouter %s (%s, %s/%s)\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH); err != nil {
				return err
			}
			device, err := sched.OpenNativeDevice(sched.NativeOptions{Library: library})
			if err != nil {
				return fmt.Errorf("the native library cannot be used: %w", err)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\ninstruction set %s, %d threads\n", device.Library(), device.ISA(), device.Threads())
			return errors.Join(err, device.Close())
		},
	}
	cmd.Flags().StringVar(&library, "library", "", "native library to load, `FILE`; default: the one built in")
	return cmd
}
