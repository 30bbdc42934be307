package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tokenrouter/tokenrouter/models/catalogue"
	"github.com/tokenrouter/tokenrouter/models/fetch"
	"github.com/tokenrouter/tokenrouter/models/store"
)

func newPullCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "pull NAME|URL|hf:OWNER/REPO/FILE.gguf ...",
		Short: "Download models, or a pair of them",
		Long: `Download models to the directory that TOKENROUTER_MODELS names, or else to tokenrouter/models in the user's cache directory.

NAME is a model or a pair of the catalogue (tokenrouter list --all). hf:OWNER/REPO/FILE.gguf is a file on a hub of models, of another
revision than main with hf:OWNER/REPO@REVISION/FILE.gguf. Of a model in parts (NAME-00001-of-00003.gguf) name any part: all are
downloaded.

A download that was cut goes on where it ended when the same command is given again. The checksum is compared with the catalogue's
or, where none is on record, with the one that the host states.

Environment: HF_TOKEN is sent to the hub, and to no other host. HF_ENDPOINT names another hub than ` + store.Hub + `.
HTTPS_PROXY, HTTP_PROXY and NO_PROXY name proxies.`,
		Example: `  tokenrouter pull qwen2.5-coder-0.5b-1.5b && tokenrouter serve --pair qwen2.5-coder-0.5b-1.5b
  tokenrouter pull hf:Qwen/Qwen3-0.6B-GGUF/Qwen3-0.6B-Q8_0.gguf
  tokenrouter pull https://example.org/model.gguf`,
		Args:              someNames("pull"),
		ValidArgsFunction: cobra.FixedCompletions(append(catalogue.PairNames(), catalogue.ModelNames()...), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			var sources []store.Source
			for _, arg := range args {
				list, err := store.Resolve(arg, os.Getenv)
				if err != nil {
					return err
				}
				sources = append(sources, list...)
			}
			s, err := store.Default()
			if err != nil {
				return err
			}
			p := puller{aside: cmd.ErrOrStderr()}
			done, err := s.Pull(cmd.Context(), sources, p.options())
			p.end()
			if asJSON {
				if jerr := printPulled(cmd.OutOrStdout(), done); jerr != nil {
					return jerr
				}
			} else {
				for _, d := range done {
					say(cmd.OutOrStdout(), p.pulled(d))
				}
			}
			if errors.Is(err, context.Canceled) {
				say(cmd.ErrOrStderr(), "interrupted; what has come is kept, and the same command goes on from there")
				return errInterrupted
			}
			if err != nil {
				return hint(err)
			}
			if !asJSON {
				nextStep(cmd.ErrOrStderr(), args)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what was downloaded as JSON")
	return cmd
}

// someNames wants at least one argument.
func someNames(command string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("%s what? Name a model, a pair or a file; tokenrouter list --all shows those of the catalogue", command)
		}
		return nil
	}
}

// puller shows how downloads go on.
type puller struct {
	aside io.Writer
	bar   *byteBar
	rates map[string]string // by file
}

func (p *puller) options() store.Options {
	p.rates = map[string]string{}
	return store.Options{
		Fetcher: fetch.Fetcher{
			Agent:    "tokenrouter/" + version,
			Progress: func(r fetch.Progress) { p.bar.progress(r); p.rates[p.bar.label] = p.bar.rate(r.Done) },
			Notice:   func(text string) { p.end(); say(p.aside, text) },
		},
		Begin: func(s store.Source, index, of int) {
			p.end()
			label := s.File
			if of > 1 {
				label = fmt.Sprintf("[%d/%d] %s", index+1, of, s.File)
			}
			p.bar = newByteBar(p.aside, label)
		},
	}
}

// end takes the bar away.
func (p *puller) end() {
	if p.bar != nil {
		p.bar.clear()
	}
}

// pulled is the line about a file.
func (p *puller) pulled(d store.Pulled) string {
	if d.Result.Present {
		return fmt.Sprintf("%s: here already, %s, %s", d.Name, fetch.Size(d.Result.Bytes), d.Path)
	}
	rate := ""
	for label, r := range p.rates {
		if strings.HasSuffix(label, d.File) {
			rate = r
		}
	}
	return fmt.Sprintf("%s: %s%s, %s, %s", d.Name, fetch.Size(d.Result.Bytes), rate, proof(d.Result.Proof), d.Path)
}

// proof says what a checksum was compared with.
func proof(p fetch.Proof) string {
	switch p {
	case fetch.Asked:
		return "sha256 as on record"
	case fetch.Host:
		return "sha256 as the host states"
	default:
		return "no checksum on record"
	}
}

// pulledJSON is a file in the JSON of pull. Names stay: scripts read them.
type pulledJSON struct {
	Name    string      `json:"name"`
	Source  string      `json:"source"`
	Path    string      `json:"path"`
	Bytes   int64       `json:"bytes"`
	SHA256  string      `json:"sha256,omitempty"`
	Proof   fetch.Proof `json:"proof"`
	Present bool        `json:"present"` // it was here already
}

func printPulled(w io.Writer, done []store.Pulled) error {
	list := make([]pulledJSON, len(done))
	for i, d := range done {
		list[i] = pulledJSON{d.Name, d.From, d.Path, d.Result.Bytes, d.Result.SHA256, d.Result.Proof, d.Result.Present}
	}
	return printJSON(w, list)
}

// printJSON writes a value for programs.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}

// hint adds to an error of a download what to do about it.
func hint(err error) error {
	switch {
	case errors.Is(err, fetch.ErrDenied) && os.Getenv("HF_TOKEN") == "":
		return fmt.Errorf("%w; if the model asks you to accept a licence first, do so on its page, and set HF_TOKEN to a token of yours", err)
	case errors.Is(err, fetch.ErrDenied):
		return fmt.Errorf("%w; HF_TOKEN is set: does it have access to this model?", err)
	case errors.Is(err, fetch.ErrNotFound):
		return fmt.Errorf("%w; check owner, repository and file name (capitals count)", err)
	case errors.Is(err, fetch.ErrSpace):
		return fmt.Errorf("%w; TOKENROUTER_MODELS names another directory, tokenrouter list shows what takes room", err)
	}
	return err
}

// nextStep says what a model that is here now is good for.
func nextStep(aside io.Writer, args []string) {
	if len(args) != 1 {
		return
	}
	if p := catalogue.FindPair(args[0]); p != nil {
		say(aside, fmt.Sprintf("serve it with: tokenrouter serve --pair %s", p.Name))
	}
}
