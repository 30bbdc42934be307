package main

import (
	"github.com/spf13/cobra"
)

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "tokenrouter",
		Short: "Several language models write one answer together, token by token",
		Long: `TokenRouter serves GGUF models behind one OpenAI-compatible endpoint. A small model writes what it is sure of;
where it is not, a large one takes over, and hands back when the going is easy again.`,
		Example: `  tokenrouter run --small small.gguf --large large.gguf "Why is the sky blue?"
  tokenrouter serve --config tokenrouter.yaml`,
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newServeCommand(), newRunCommand(), newBenchCommand(), newPullCommand(), newListCommand(), newRemoveCommand(), newInspectCommand(), newTokenizeCommand(), newQuantizeCommand(), newCollectCommand(),
		newPlanCommand(), newSimulateCommand(), newDoctorCommand(), newPsCommand(), newVersionCommand())
	return root
}
