package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tokenrouter/tokenrouter/models/catalogue"
	"github.com/tokenrouter/tokenrouter/models/fetch"
	"github.com/tokenrouter/tokenrouter/models/store"
)

// The JSON of list. Names stay: scripts read them.
type (
	listJSON struct {
		Directory string         `json:"directory"`
		Models    []store.Model  `json:"models"`
		Catalogue *catalogueJSON `json:"catalogue,omitempty"` // with --all
	}
	catalogueJSON struct {
		Models []modelJSON `json:"models"`
		Pairs  []pairJSON  `json:"pairs"`
	}
	modelJSON struct {
		catalogue.Model
		Here      bool  `json:"here"`
		Size      int64 `json:"size"`       // bytes
		SizeExact bool  `json:"size_exact"` // false: estimated
	}
	pairJSON struct {
		catalogue.Pair
		Here   int   `json:"here"`   // how many of its models are
		Memory int64 `json:"memory"` // bytes that serving it takes, estimated
	}
)

func newListCommand() *cobra.Command {
	var asJSON, all bool
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the models on this machine, and those of the catalogue",
		Example: "  tokenrouter list --all\n  tokenrouter list --json | jq -r '.models[].path'",
		Args:    expectsNone,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := store.Default()
			if err != nil {
				return err
			}
			here, err := s.List()
			if err != nil {
				return err
			}
			out := listJSON{Directory: s.Dir, Models: here}
			if out.Models == nil {
				out.Models = []store.Model{}
			}
			if all {
				out.Catalogue = catalogueWith(here)
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), out)
			}
			return printList(cmd.OutOrStdout(), cmd.ErrOrStderr(), out)
		},
	}
	cmd.Flags().BoolVarP(&all, "all", "a", false, "list the catalogue, too: models and pairs that can be pulled")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// catalogueWith is the catalogue, with what of it is on this machine.
func catalogueWith(here []store.Model) *catalogueJSON {
	is := func(name string) bool {
		return slices.ContainsFunc(here, func(m store.Model) bool { return m.Name == name && !m.Partial && len(m.Missing) == 0 })
	}
	c := &catalogueJSON{}
	for _, m := range catalogue.Models() {
		size, exact := m.Size()
		c.Models = append(c.Models, modelJSON{m, is(m.Name), size, exact})
	}
	for _, p := range catalogue.Pairs() {
		n := 0
		for _, name := range p.Models {
			if is(name) {
				n++
			}
		}
		c.Pairs = append(c.Pairs, pairJSON{p, n, p.Memory()})
	}
	return c
}

// table writes rows in columns.
func table(w io.Writer, rows ...[]any) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			separator := "\t"
			if i == len(row)-1 {
				separator = "\n"
			}
			if _, err := fmt.Fprint(t, cell, separator); err != nil {
				return err
			}
		}
	}
	return t.Flush()
}

func printList(w, aside io.Writer, l listJSON) error {
	if len(l.Models) == 0 {
		say(aside, fmt.Sprintf("no models in %s yet; tokenrouter list --all shows what can be pulled", l.Directory))
	} else {
		rows := [][]any{{"MODEL", "SIZE", "STATE", "FILE"}}
		for _, m := range l.Models {
			rows = append(rows, []any{m.Name, fetch.Size(m.Bytes), stateOf(m), m.Path})
		}
		if err := table(w, rows...); err != nil {
			return err
		}
	}
	if l.Catalogue == nil {
		return nil
	}
	rows := [][]any{{"\nPAIR", "MEMORY", "HERE", "FOR"}}
	for _, p := range l.Catalogue.Pairs {
		rows = append(rows, []any{p.Name, "~" + fetch.Size(p.Memory), []string{"", "one of two", "yes"}[p.Here], p.About})
	}
	rows = append(rows, []any{"demo", "built in", "yes", "word problems, without a download"})
	if err := table(w, rows...); err != nil {
		return err
	}
	rows = [][]any{{"\nMODEL", "SIZE", "HERE", "SOURCE"}}
	for _, m := range l.Catalogue.Models {
		size := fetch.Size(m.Size)
		if !m.SizeExact {
			size = "~" + size
		}
		rows = append(rows, []any{m.Name, size, map[bool]string{true: "yes"}[m.Here], m.Source})
	}
	return table(w, rows...)
}

// stateOf says whether a model can be served.
func stateOf(m store.Model) string {
	switch {
	case m.Partial:
		return "not whole: pull it again to go on"
	case len(m.Missing) > 0:
		return fmt.Sprintf("%d parts missing", len(m.Missing))
	case m.Source == "":
		return "not pulled by this program"
	default:
		return proof(m.Proof)
	}
}
