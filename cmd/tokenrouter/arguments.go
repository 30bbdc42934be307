package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// expects checks that a command has exactly these arguments, each described in a few words.
func expects(what ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == len(what) {
			return nil
		}
		return wrongArguments(cmd, args, strings.Join(what, ", "))
	}
}

// expectsAtMost checks that a command has at most one argument.
func expectsAtMost(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) <= 1 {
			return nil
		}
		return wrongArguments(cmd, args, "at most "+what)
	}
}

// expectsNone refuses arguments.
func expectsNone(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return wrongArguments(cmd, args, "no arguments, only flags")
}

func wrongArguments(cmd *cobra.Command, args []string, want string) error {
	found := "none is given"
	if len(args) > 0 {
		quoted := make([]string, len(args))
		for i, a := range args {
			quoted[i] = fmt.Sprintf("%.100q", a)
		}
		found = fmt.Sprintf("%s given: %s", count(len(args), "argument"), strings.Join(quoted, ", "))
	}
	return fmt.Errorf("%s: expected %s; %s (%s --help shows examples)", cmd.Name(), want, found, cmd.CommandPath())
}
