package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tokenrouter/tokenrouter/models/fetch"
	"github.com/tokenrouter/tokenrouter/server/openai"
)

func newPsCommand() *cobra.Command {
	var c client
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ps",
		Short: "Show what a running server has loaded, what it takes, and what it is doing",
		Long: `Ask a running server for its models and routes. Weights and KV caches are what the engine has allocated; resident is what the
operating system counts for the whole process.`,
		Args: expectsNone,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var list openai.RouteList
			err := c.get(cmd.Context(), "/v1/routes", &list)
			var loading *loadingError
			if errors.As(err, &loading) && !asJSON {
				return c.loading(cmd.Context(), cmd.OutOrStdout())
			}
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), list)
			}
			return printPs(cmd.OutOrStdout(), c.base(), &list)
		},
	}
	c.addFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, that of /v1/routes")
	return cmd
}

// loading shows how far a server is that does not answer requests yet.
func (c *client) loading(ctx context.Context, w io.Writer) error {
	var h struct {
		Status  string
		Loading []struct {
			Model    string
			Progress float64
		}
	}
	err := c.get(ctx, "/readyz", &h)
	var not *loadingError
	if err != nil && !errors.As(err, &not) {
		return err
	}
	if not != nil && json.Unmarshal(not.body, &h) != nil {
		return fmt.Errorf("the server is not ready: %w", err)
	}
	if _, err := fmt.Fprintf(w, "%s: %s\n", c.base(), h.Status); err != nil {
		return err
	}
	var rows [][]any
	for _, m := range h.Loading {
		rows = append(rows, []any{"  " + m.Model, fmt.Sprintf("%.0f%%", 100*m.Progress)})
	}
	return table(w, rows...)
}

func printPs(w io.Writer, url string, l *openai.RouteList) error {
	first := fmt.Sprintf("%s: %s being answered, %d in the queue, batching %s", url, count(l.Live, "request"), l.Queue, l.Policy)
	if l.Resident > 0 {
		first += fmt.Sprintf(", %s resident", fetch.Size(l.Resident))
	}
	if _, err := fmt.Fprintln(w, first); err != nil {
		return err
	}
	rows := [][]any{{"\nMODEL", "WEIGHTS", "KV CACHE", "IN USE", "WAITING", "RUNNING", "AWAY", "WRITTEN"}}
	for i := range l.Models {
		m := &l.Models[i]
		weights, kv := "?", fmt.Sprintf("%d tokens", m.KV.Capacity)
		switch {
		case m.Memory != nil:
			weights, kv = fetch.Size(int64(m.Memory.Weights)), fmt.Sprintf("%s, %s", fetch.Size(int64(m.Memory.KV)), kv)
		case m.KV.Capacity == 0: // a model that is loaded has room for some tokens
			weights, kv = "unloaded", "none"
		}
		rows = append(rows, []any{m.ID, weights, kv, fmt.Sprintf("%.0f%%", 100*m.KV.Usage), m.Waiting, m.Running, m.Pending, fmt.Sprintf("%d tokens", m.Tokens)})
	}
	if err := table(w, rows...); err != nil {
		return err
	}
	if len(l.Devices) > 0 {
		rows = [][]any{{"\nDEVICE", "SHARING", "MODELS", ""}}
		for _, d := range l.Devices {
			lost := ""
			if d.Lost != "" {
				lost = "LOST: " + d.Lost
			}
			rows = append(rows, []any{d.ID, d.Sharing, strings.Join(d.Models, ", "), lost})
		}
		if err := table(w, rows...); err != nil {
			return err
		}
	}
	if len(l.Data) == 0 {
		return nil
	}
	rows = [][]any{{"\nROUTE", "ALGORITHM", "MODELS", "THRESHOLD", "CONTEXT"}}
	for i := range l.Data {
		r := &l.Data[i]
		threshold := ""
		if r.DefaultThreshold != nil {
			threshold = fmt.Sprintf("%.4g", *r.DefaultThreshold)
		}
		rows = append(rows, []any{r.ID, r.Algorithm, strings.Join(r.Models, ", "), threshold, r.ContextLength})
	}
	return table(w, rows...)
}
