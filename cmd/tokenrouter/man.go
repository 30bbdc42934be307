package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newManCommand writes the manual page, from what the commands say of themselves. It is for those who install the program.
func newManCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "man",
		Short:  "Write the manual page, in roff",
		Hidden: true,
		Args:   expectsNone,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := io.WriteString(cmd.OutOrStdout(), manual(cmd.Root()))
			return err
		},
	}
}

// manual is the page of the program with all its commands, in the macros of man(7).
func manual(root *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH TOKENROUTER 1 \"\" \"tokenrouter %s\"\n.SH NAME\ntokenrouter \\- %s\n", roff(version), roff(root.Short))
	b.WriteString(".SH SYNOPSIS\n.B tokenrouter\n.I COMMAND\n[\\fIflags\\fR]\n.SH DESCRIPTION\n")
	paragraphs(&b, root.Long)
	b.WriteString(".SH COMMANDS\n")
	for _, c := range root.Commands() {
		if c.Hidden || !c.IsAvailableCommand() || c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		fmt.Fprintf(&b, ".SS tokenrouter %s\n", roff(c.Use))
		text := c.Long
		if text == "" {
			text = c.Short + "."
		}
		paragraphs(&b, text)
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { option(&b, f) })
		if c.Example != "" {
			fmt.Fprintf(&b, ".PP\nExamples:\n.PP\n.nf\n%s\n.fi\n", roff(c.Example))
		}
	}
	b.WriteString(".SH ENVIRONMENT\n")
	for _, v := range [][2]string{
		{"TOKENROUTER_MODELS", "Directory of the models; else tokenrouter/models in the user's cache directory."},
		{"TOKENROUTER_URL, TOKENROUTER_API_KEY", "The server that ps, load and unload ask, and its key."},
		{"TOKENROUTER_LIB", "Native library to load in place of the one built in."},
		{"TOKENROUTER_CUDA_LIB", "Native library to load for GPUs."},
		{"HF_TOKEN, HF_ENDPOINT", "Token for a hub of models, and another hub than the default."},
		{"NO_COLOR", "If set, no colours are written."},
	} {
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", v[0], roff(v[1]))
	}
	b.WriteString(".SH EXIT STATUS\n0 for success, 1 for an error, 130 after an interruption.\n")
	return b.String()
}

func paragraphs(b *strings.Builder, text string) {
	for p := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		fmt.Fprintf(b, ".PP\n%s\n", roff(p))
	}
}

func option(b *strings.Builder, f *pflag.Flag) {
	if f.Hidden {
		return
	}
	value, usage := pflag.UnquoteUsage(f)
	name := `\-\-` + roff(f.Name)
	if f.Shorthand != "" {
		name = `\-` + f.Shorthand + ", " + name
	}
	fmt.Fprintf(b, ".TP\n\\fB%s\\fR", name)
	if value != "" {
		fmt.Fprintf(b, " \\fI%s\\fR", roff(value))
	}
	fmt.Fprintf(b, "\n%s\n", roff(strings.ReplaceAll(usage, "\n", " ")))
}

// roff writes text so that nothing in it is a command.
func roff(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
