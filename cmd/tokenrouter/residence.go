package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/tokenrouter/tokenrouter/models/fetch"
	"github.com/tokenrouter/tokenrouter/server/openai"
)

func newLoadCommand() *cobra.Command {
	return newResidenceCommand("load", "Load a model that a running server has unloaded", `Have a running server load one of its models that was unloaded, by tokenrouter unload or for want of requests (idle_unload), and wait
for it. A request for the model, or for a route that it is part of, does the same.`)
}

func newUnloadCommand() *cobra.Command {
	return newResidenceCommand("unload", "Free the memory that a model takes in a running server", `Have a running server free the memory of one of its models, weights and KV cache. The next request for the model, or for a route
that it is part of, loads it again and waits for that. A model that is answering, or may have to, is not unloaded.`)
}

func newResidenceCommand(verb, short, long string) *cobra.Command {
	var c client
	cmd := &cobra.Command{
		Use:     verb + " MODEL",
		Short:   short,
		Long:    long + " tokenrouter ps shows the models.",
		Example: "  tokenrouter " + verb + " large",
		Args:    expects("the name of a model as tokenrouter ps shows it"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var done openai.Residence
			err := c.do(cmd.Context(), http.MethodPost, "/v1/models/"+url.PathEscape(args[0])+"/"+verb, &done)
			var loading *loadingError
			if errors.As(err, &loading) {
				return fmt.Errorf("the server cannot do this now: %w", err)
			}
			if err != nil {
				return err
			}
			said := fmt.Sprintf("%s is unloaded", done.ID)
			if done.Loaded {
				said = fmt.Sprintf("%s is loaded", done.ID)
				if m := done.Memory; m != nil {
					said += fmt.Sprintf(": weights %s, KV cache %s", fetch.Size(int64(m.Weights)), fetch.Size(int64(m.KV)))
				}
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), said)
			return err
		},
	}
	c.addFlags(cmd)
	return cmd
}
