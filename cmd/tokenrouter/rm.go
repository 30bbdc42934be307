package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tokenrouter/tokenrouter/models/catalogue"
	"github.com/tokenrouter/tokenrouter/models/fetch"
	"github.com/tokenrouter/tokenrouter/models/store"
	"github.com/tokenrouter/tokenrouter/server/config"
)

func newRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "rm NAME ...",
		Aliases: []string{"remove"},
		Short:   "Remove models from this machine",
		Long: `Remove models that were pulled, and what is left of downloads that were not finished. NAME is one that tokenrouter list shows, or a
pair of the catalogue, of which both models are removed. A server that has loaded a model does not need its file any more.`,
		Args:              someNames("rm"),
		ValidArgsFunction: completeStored,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := store.Default()
			if err != nil {
				return err
			}
			for _, arg := range args {
				names := []string{arg}
				if p := catalogue.FindPair(arg); p != nil {
					names = p.Models[:]
				}
				for _, name := range names {
					if name == config.DemoRoute || slices.Contains(catalogue.Carried(), name) {
						return fmt.Errorf("rm: %s is part of the program, and takes no room of its own", name)
					}
					removed, err := s.Remove(name)
					for _, m := range removed {
						say(cmd.OutOrStdout(), fmt.Sprintf("removed %s, %s", m.Path, fetch.Size(m.Bytes)))
					}
					if err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
}

// completeStored completes names of models in the store.
func completeStored(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	s, err := store.Default()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	list, err := s.List()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []string
	for _, m := range list {
		names = append(names, m.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
