package chat

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ardanlabs/jinja"
	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/models/modelstest"
	"github.com/tokenrouter/tokenrouter/models/tokenizer"
)

func tiny(t testing.TB) *tokenizer.Tokenizer {
	t.Helper()
	tok, err := tokenizer.New(modelstest.File(t, modelstest.Vocabulary()))
	require.NoError(t, err)
	return tok
}

// Snapshots come from Jinja2, by testdata/snapshots.py.
type snapshots struct {
	Templates map[string][]struct {
		Name    string
		Request struct {
			Messages   []Message
			Tools      []json.RawMessage
			Generation *bool `json:"add_generation_prompt"`
			Vars       map[string]any
		}
		Want, Raises string
	}
	Snippets map[string]struct{ Source, Want string }
}

// snapshotTime is when snapshots.py renders.
func snapshotTime() time.Time { return time.Date(2024, 7, 6, 15, 4, 5, 678_900_000, time.UTC) }

func loadSnapshots(t *testing.T) snapshots {
	raw, err := os.ReadFile("testdata/snapshots.json")
	require.NoError(t, err)
	var s snapshots
	require.NoError(t, json.Unmarshal(raw, &s))
	require.NotEmpty(t, s.Templates)
	require.NotEmpty(t, s.Snippets)
	return s
}

func TestTemplatesRenderAsInJinja2(t *testing.T) {
	tok := tiny(t)
	for file, cases := range loadSnapshots(t).Templates {
		source, err := os.ReadFile(filepath.Join("testdata", file))
		require.NoError(t, err)
		tmpl, err := New(string(source), tok)
		require.NoError(t, err, file)
		require.Equal(t, string(source), tmpl.Source())
		tmpl.now = snapshotTime
		for _, c := range cases {
			t.Run(file+"/"+c.Name, func(t *testing.T) {
				r := Request{Messages: c.Request.Messages, Tools: c.Request.Tools, Vars: c.Request.Vars}
				r.NoGenerationPrompt = c.Request.Generation != nil && !*c.Request.Generation
				if tmpl.ToolsErr() != nil && r.Tools != nil { // the text would be the same without them
					_, err := tmpl.Render(r)
					require.ErrorContains(t, err, "tools: the model's chat template does not take tools")
					r.Tools = nil
				}
				got, err := tmpl.Render(r)
				if c.Raises != "" {
					var raised *RaisedError
					require.ErrorAs(t, err, &raised)
					require.Equal(t, c.Raises, raised.Message)
					return
				}
				require.NoError(t, err)
				require.Equal(t, c.Want, got)

				// Nothing in these conversations is spelled like a control token: the prompt is the text.
				ids, err := tmpl.Prompt(r)
				require.NoError(t, err)
				require.Equal(t, tok.Encode(c.Want, tokenizer.Options{ParseSpecial: true}), ids)
			})
		}
	}
}

func TestSnippetsRenderAsInJinja2(t *testing.T) {
	for name, c := range loadSnapshots(t).Snippets {
		t.Run(name, func(t *testing.T) {
			got, err := renderSource(c.Source, Request{Messages: []Message{User("hi")}})
			require.NoError(t, err)
			require.Equal(t, c.Want, got)
		})
	}
}

// renderSource renders without the probe, which wants templates that print messages.
func renderSource(source string, r Request) (string, error) {
	translated, err := translate(source)
	if err != nil {
		return "", err
	}
	t := &Template{source: source, fixed: map[string]jinja.Value{}, now: snapshotTime}
	if t.compiled, err = compile(translated); err != nil {
		return "", err
	}
	return t.Render(r)
}
