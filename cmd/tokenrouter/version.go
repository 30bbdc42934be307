package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/tokenrouter/tokenrouter/sched"
)

// version of the program; a release sets it with -ldflags "-X main.version=1.2.3".
var version = "0.1.0-dev"

// builtFrom is set as version is, by the Makefile.
var builtFrom string

// commit is the commit that the program was built from, with a + where files had been changed; "": not known.
var commit = func() string {
	if builtFrom != "" {
		return builtFrom
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	revision, changed := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(len(s.Value), 12)]
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = "+"
		}
	}
	if revision == "" {
		return ""
	}
	return revision + changed
}()

// versionJSON is the JSON of version. Names stay: scripts read them.
type versionJSON struct {
	Version string `json:"version"`
	Commit  string `json:"commit"` // "": not known
	Go      string `json:"go"`
	System  string `json:"system"`
	ABI     int    `json:"abi"` // that the program needs of the library
	Library string `json:"library"`
	ISA     string `json:"isa"`
	Threads int    `json:"threads"`
}

func newVersionCommand() *cobra.Command {
	var library string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of the program and of its native library",
		Args:  expectsNone,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := versionJSON{Version: version, Commit: commit, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, ABI: sched.NativeABI}
			if !asJSON { // the program's own line comes first, and also when the library cannot be used
				at := ""
				if commit != "" {
					at = "commit " + commit + ", "
				}
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "tokenrouter %s (%s%s, %s, ABI %d)\n", v.Version, at, v.Go, v.System, v.ABI); err != nil {
					return err
				}
			}
			device, err := sched.OpenNativeDevice(sched.NativeOptions{Library: library})
			if err != nil {
				return fmt.Errorf("the native library cannot be used: %w", err)
			}
			v.Library, v.ISA, v.Threads = device.Library(), device.ISA(), device.Threads()
			if err := device.Close(); err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), v)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\ninstruction set %s, %d threads\n", v.Library, v.ISA, v.Threads)
			return err
		},
	}
	cmd.Flags().StringVar(&library, "library", "", "native library to load, `FILE`; default: the one built in")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
