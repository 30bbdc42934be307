package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tokenrouter/tokenrouter/internal/suggest"
)

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "tokenrouter",
		Short: "Several language models write one answer together, token by token",
		Long: `TokenRouter serves GGUF models behind one OpenAI-compatible endpoint. A small model writes what it is sure of;
where it is not, a large one takes over, and hands back when the going is easy again.`,
		Example: `  tokenrouter run --demo 'Sam earns $6 per hour. On Monday Sam works 8 hours and on Friday 7 hours. How much does Sam earn?'
  tokenrouter pull qwen2.5-coder-0.5b-1.5b && tokenrouter run --pair qwen2.5-coder-0.5b-1.5b
  tokenrouter run --small small.gguf --large large.gguf "Why is the sky blue?"
  tokenrouter serve --config tokenrouter.yaml`,
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newServeCommand(), newRunCommand(), newBenchCommand(), newPullCommand(), newListCommand(), newRemoveCommand(), newInspectCommand(), newTokenizeCommand(), newQuantizeCommand(), newCollectCommand(),
		newPlanCommand(), newSimulateCommand(), newDoctorCommand(), newDevicesCommand(), newProbeCommand(), newPsCommand(), newLoadCommand(), newUnloadCommand(), newManCommand(), newVersionCommand())
	root.SetFlagErrorFunc(flagError)
	return root
}

// addCompletion adds the command for shells' completion, which otherwise takes any word for a wish to read its help. It is done when
// the command line is known to write to its place.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		var names []string
		for _, shell := range c.Commands() {
			names = append(names, shell.Name())
		}
		shells := strings.Join(names, ", ")
		c.Args, c.RunE = expects("a shell: "+shells), func(_ *cobra.Command, args []string) error {
			return fmt.Errorf("completion: there is none for %.100q, only for %s", args[0], shells)
		}
	}
}

// flagError says what is wrong with a flag: what one that does not exist was probably meant to be, or what its value should be.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var missing *pflag.ValueRequiredError
	see := fmt.Sprintf("(%s --help lists the flags)", cmd.CommandPath())
	switch {
	case errors.As(err, &invalid):
		return fmt.Errorf("--%s: expected %s, found %.100q %s", invalid.GetFlag().Name, valueOf(invalid.GetFlag()), invalid.GetValue(), see)
	case errors.As(err, &missing):
		return fmt.Errorf("--%s: expected %s behind it, found nothing %s", missing.GetFlag().Name, valueOf(missing.GetFlag()), see)
	case !errors.As(err, &unknown):
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	hint := ""
	if name := suggest.Closest(unknown.GetSpecifiedName(), names); name != "" {
		hint = "; did you mean --" + name + "?"
	}
	return fmt.Errorf("%w%s %s", err, hint, see)
}

// valueOf says in words what a flag takes.
func valueOf(f *pflag.Flag) string {
	switch kind := f.Value.Type(); kind {
	case "int", "int64", "uint64", "uint32":
		return "a whole number"
	case "float64", "float32":
		return "a number"
	case "bool":
		return "true or false"
	case "duration":
		return "a time such as 30s or 5m"
	case "intSlice":
		return "whole numbers with commas between"
	case "float64Slice":
		return "numbers with commas between"
	default:
		name, _ := pflag.UnquoteUsage(f)
		return "a value, " + name
	}
}
