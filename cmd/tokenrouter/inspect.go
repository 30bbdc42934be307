package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/tokenrouter/tokenrouter/models"
	"github.com/tokenrouter/tokenrouter/models/gguf"
	"github.com/tokenrouter/tokenrouter/sched"
)

func newInspectCommand() *cobra.Command {
	var asJSON, all bool
	cmd := &cobra.Command{
		Use:   "inspect FILE.gguf",
		Short: "Show what is in a GGUF file, and what is wrong with it",
		Long: `Show what is in a GGUF file: metadata, tensors, tokenizer, chat template, and the problems that keep it, or a part of
it, from being used: the engine is asked, too. Only the header is read, so this is quick whatever the size of the file; weights
that are not finite numbers show when a model is loaded. Of a model in parts
(NAME-00001-of-00003.gguf and so on), name the first part.

The exit status is 1 when the file cannot be read or a problem keeps it from being served, else 0: also for a file that
holds a vocabulary only, and for a chat template that does not work, without which a model still completes text.`,
		Example: "  tokenrouter inspect model.gguf\n  tokenrouter inspect model.gguf --json | jq .problems",
		Args:    expects("a GGUF file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := gguf.Open(args[0])
			if err != nil {
				return err
			}
			r := models.Inspect(f)
			_, serve := models.New(f)
			if serve == nil && len(f.Tensors) > 0 {
				if serve = runs(args[0], cmd.ErrOrStderr()); serve != nil {
					r.Problems = append(r.Problems, serve)
				}
			}
			write := inspectText
			if asJSON {
				write = inspectJSON
			}
			if err := write(cmd.OutOrStdout(), f, r, all); err != nil {
				return err
			}
			if serve != nil {
				return fmt.Errorf("%s cannot be served: %w", args[0], serve)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&all, "all", false, "print long arrays whole, and the list of tensors as text too")
	return cmd
}

// runs asks the engine whether it runs the model. Without the native library nobody can say, which is no fault of the file.
func runs(path string, aside io.Writer) (err error) {
	device, err := sched.OpenNativeDevice(sched.NativeOptions{})
	if err != nil {
		_, _ = fmt.Fprintf(aside, "whether the engine runs the model was not checked: %v\n", err) // there is nowhere else to say it
		return nil
	}
	defer func() { err = errors.Join(err, device.Close()) }()
	return device.CheckModel(path)
}

// The JSON of inspect. Names stay: scripts read them.
type (
	inspection struct {
		models.Info
		Version    uint32            `json:"gguf_version"`
		Alignment  uint64            `json:"alignment"`
		DataOffset int64             `json:"data_offset"`
		Tokenizer  *tokenizerDetails `json:"tokenizer"`
		Template   *string           `json:"chat_template"`
		Chats      bool              `json:"chats"`       // the template works
		TakesTools bool              `json:"takes_tools"` // and puts tools into the prompt
		Metadata   []metadataEntry   `json:"metadata"`
		Parts      []partEntry       `json:"parts"` // the files, one if the model is not in parts
		TensorList []tensorEntry     `json:"tensor_list"`
		Problems   []string          `json:"problems"`
	}
	tokenizerDetails struct {
		Model    string           `json:"model"`
		Pre      string           `json:"pre"`
		Types    map[string]int   `json:"token_types"`
		IDs      map[string]int32 `json:"special_ids"`
		End      []int32          `json:"end_ids"`
		AddBOS   bool             `json:"add_bos"`
		AddEOS   bool             `json:"add_eos"`
		AddSpace bool             `json:"add_space_prefix"`
	}
	metadataEntry struct {
		Key    string `json:"key"`
		Type   string `json:"type"`
		Length int    `json:"length,omitempty"` // of an array
		Value  any    `json:"value"`            // the first entries of a long array
	}
	partEntry struct {
		Path    string `json:"path"`
		Size    int64  `json:"size"`
		Tensors int    `json:"tensors"`
	}
	tensorEntry struct {
		Name   string   `json:"name"`
		Type   string   `json:"type"`
		Shape  []uint64 `json:"shape"`
		Part   int      `json:"part"` // index in parts
		Offset int64    `json:"offset"`
		Size   int64    `json:"size"`
	}
)

func inspectJSON(w io.Writer, f *gguf.File, r models.Report, all bool) error {
	out := inspection{
		Info: r.Info, Version: f.Version, Alignment: f.Alignment, DataOffset: f.DataOffset, Tokenizer: detailsOf(r.Tokenizer),
		Metadata: []metadataEntry{}, Parts: []partEntry{}, TensorList: []tensorEntry{}, Problems: []string{},
	}
	if r.Template != "" {
		out.Template = &r.Template
	}
	out.Chats = r.Chat != nil
	out.TakesTools = out.Chats && r.Chat.ToolsErr() == nil
	for _, key := range f.Keys() {
		v, _ := f.Get(key)
		out.Metadata = append(out.Metadata, entryOf(key, v, all))
	}
	for _, p := range f.Parts {
		out.Parts = append(out.Parts, partEntry(p))
	}
	for _, t := range f.Tensors {
		out.TensorList = append(out.TensorList, tensorEntry{t.Name, t.Type.String(), t.Shape, t.Part, t.Offset, t.Size})
	}
	for _, p := range r.Problems {
		out.Problems = append(out.Problems, p.Error())
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(out); err != nil {
		return fmt.Errorf("write the inspection of %s: %w", f.Path, err)
	}
	return nil
}
