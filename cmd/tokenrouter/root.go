package main

import (
	"errors"
	"fmt"

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

// flagError says what a flag that does not exist was probably meant to be, and where to look.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	hint := ""
	if name := suggest.Closest(unknown.GetSpecifiedName(), names); name != "" {
		hint = "; did you mean --" + name + "?"
	}
	return fmt.Errorf("%w%s (tokenrouter %s --help lists the flags)", err, hint, cmd.Name())
}
