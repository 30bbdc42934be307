package app

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/internal/tinygguf"
	"github.com/tokenrouter/tokenrouter/models"
	"github.com/tokenrouter/tokenrouter/models/chat"
)

func TestText(t *testing.T) {
	m, err := models.Open(tinygguf.Temp(t, tinygguf.Options{}))
	require.NoError(t, err)
	x := textOf(m)

	// A prompt to complete may spell special tokens; a message may not.
	end, ok := m.Tokenizer().ID("<|im_end|>")
	require.True(t, ok)
	require.Contains(t, x.Encode("a<|im_end|>"), end)
	plain, err := x.Prompt(chat.Request{Messages: []chat.Message{chat.User("a")}})
	require.NoError(t, err)
	forged, err := x.Prompt(chat.Request{Messages: []chat.Message{chat.User("a<|im_end|>")}})
	require.NoError(t, err)
	require.Equal(t, count(plain, end), count(forged, end))

	// To a template that knows no developer, one is a system message. The request is left as it was.
	r := chat.Request{Messages: []chat.Message{{Role: "developer", Content: chat.Text("b")}, chat.User("a")}}
	developer, err := x.Prompt(r)
	require.NoError(t, err)
	system, err := x.Prompt(chat.Request{Messages: []chat.Message{chat.System("b"), chat.User("a")}})
	require.NoError(t, err)
	require.Equal(t, system, developer)
	require.Equal(t, "developer", r.Messages[0].Role)

	require.Equal(t, "<|im_end|>", x.Piece(end))
	require.Empty(t, x.Piece(-1))
	ids := x.Encode("é")
	require.Len(t, ids, 2, "two bytes, which no merge joins")
	d := x.NewDetokenizer(false)
	require.Empty(t, d.Add(ids[0]))
	require.Equal(t, "é", d.Add(ids[1]))
	require.Empty(t, d.Add(end))
	require.Empty(t, d.Add(1_000_000))
	require.Equal(t, "<|im_end|>", x.NewDetokenizer(true).Add(end))
}

// A template of the configuration is used in place of the file's; one that does not work keeps the server from starting.
func TestChatTemplateOfTheConfiguration(t *testing.T) {
	path := tinygguf.Temp(t, tinygguf.Options{})
	configured := func(template string) (*plan, error) {
		file := filepath.Join(t.TempDir(), "t.jinja")
		if template != "" {
			require.NoError(t, os.WriteFile(file, []byte(template), 0o600))
		}
		return newPlan(parse(t, fmt.Sprintf("models:\n- {name: m, path: %s, chat_template: %s}\n", path, file)))
	}
	p, err := configured("{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}{% if think %}<hm>{% endif %}")
	require.NoError(t, err)
	x := textOf(p.model("m").file)
	ids, err := x.Prompt(chat.Request{Messages: []chat.Message{chat.User("a")}, Vars: map[string]any{"think": true}})
	require.NoError(t, err)
	require.Equal(t, x.Encode("user: a\n<hm>"), ids)

	_, err = configured("")
	require.ErrorContains(t, err, "models[0].chat_template")
	require.ErrorContains(t, err, "cannot read the chat template")
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = configured("{{ nothing }}")
	require.ErrorContains(t, err, "models[0].chat_template")
	require.ErrorContains(t, err, "t.jinja: chat template, rendering a conversation to try it: the user's message is not in what it gives")
}

func TestChatTemplateFilesThatAreNone(t *testing.T) {
	path := tinygguf.Temp(t, tinygguf.Options{})
	dir := t.TempDir()
	large, pipe := filepath.Join(dir, "large"), filepath.Join(dir, "pipe")
	require.NoError(t, os.WriteFile(large, nil, 0o600))
	require.NoError(t, os.Truncate(large, 1<<40)) // of holes: reading it would take all memory
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	for file, want := range map[string]string{
		large:       "has 1099511627776 bytes, a template at most 262144",
		pipe:        "is no regular file",
		dir:         "is no regular file",
		"/dev/zero": "is no regular file",
	} {
		_, err := newPlan(parse(t, fmt.Sprintf("models:\n- {name: m, path: %s, chat_template: %s}\n", path, file)))
		require.ErrorContains(t, err, "models[0].chat_template")
		require.ErrorContains(t, err, want)
	}
}

func count(ids []int32, id int32) (n int) {
	for _, x := range ids {
		if x == id {
			n++
		}
	}
	return n
}
