package catalogue

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/models"
	"github.com/tokenrouter/tokenrouter/models/chat"
	"github.com/tokenrouter/tokenrouter/models/heads"
)

func TestCarriedModels(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	require.Equal(t, []string{DemoLarge, DemoSmall}, Carried())
	var size int64
	var files []*models.Model
	for _, name := range []string{DemoSmall, DemoLarge} {
		path, err := CarriedFile(name)
		require.NoError(t, err)
		m, err := models.Open(path)
		require.NoError(t, err)
		require.Equal(t, "qwen3", m.Info().Architecture)
		size += m.Info().Size
		files = append(files, m)
	}
	require.LessOrEqual(t, size, int64(4<<20), "together at most 4 MB")
	_, err := models.CheckRoute(files[0], files[1])
	require.NoError(t, err)
}

func TestCarriedHeads(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	require.Equal(t, []string{DemoCITER, DemoCoLLM, DemoR2R}, Heads())
	for _, name := range Heads() {
		path, err := Head(name)
		require.NoError(t, err)
		h, err := heads.Open(path)
		require.NoError(t, err)
		require.Equal(t, strings.TrimPrefix(name, "demo-"), h.Algorithm)
		require.NotNil(t, h.Threshold)
		require.Equal(t, 64, h.Embedding, "the small model's width")
		require.LessOrEqual(t, h.Size, int64(300_000), "at most 0.3 MB")
	}
}

// The template writes what the models were trained on: a role's token before each text, an end after the assistant's only.
func TestChatTemplate(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	path, err := CarriedFile(DemoSmall)
	require.NoError(t, err)
	m, err := models.Open(path)
	require.NoError(t, err)
	template, err := m.Chat()
	require.NoError(t, err)
	for _, c := range []struct {
		messages []chat.Message
		want     string
	}{
		{[]chat.Message{chat.User("What is 2 + 3?")}, "<|user|>What is 2 + 3?<|assistant|>"},
		{[]chat.Message{chat.System("Be brief."), chat.User(" Hi ")}, "<|system|>Be brief.<|user|>Hi<|assistant|>"},
		{[]chat.Message{chat.User("a"), {Role: "assistant", Content: chat.Text("b")}, chat.User("c")}, "<|user|>a<|assistant|>b<|end|><|user|>c<|assistant|>"},
	} {
		got, err := template.Render(chat.Request{Messages: c.messages})
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
	_, err = template.Render(chat.Request{Messages: []chat.Message{chat.User("a"), {Role: "tool", Content: chat.Text("b")}}})
	require.ErrorContains(t, err, "system, user and assistant")
}

func TestUnknownName(t *testing.T) {
	_, err := CarriedFile("demo-huge")
	require.ErrorContains(t, err, `no model of the catalogue is called "demo-huge", expected one of demo-large, demo-small`)
	_, err = Head("demo-small")
	require.ErrorContains(t, err, `no router head of the catalogue is called "demo-small", expected one of demo-citer, demo-co-llm, demo-r2r`)
}

func TestNoCacheDirectory(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", "/proc/nowhere")
	_, err := CarriedFile(DemoSmall)
	require.ErrorContains(t, err, "XDG_CACHE_HOME")
}

func TestExtract(t *testing.T) {
	dir := t.TempDir()
	content := []byte("a model")
	path, err := extract(content, dir, "m.gguf")
	require.NoError(t, err)
	// SHA-256 of "a model", by sha256sum.
	require.Equal(t, filepath.Join(dir, "97ff8a35544dcf40", "m.gguf"), path)
	before, err := os.Stat(path)
	require.NoError(t, err)
	_, err = extract(content, dir, "m.gguf")
	require.NoError(t, err)
	again, err := os.Stat(path)
	require.NoError(t, err)
	require.True(t, os.SameFile(before, again), "a good file is used again")
	for _, damaged := range []string{"a mode", "a modeL", "a model.", ""} {
		require.NoError(t, os.WriteFile(path, []byte(damaged), 0o600))
		_, err = extract(content, dir, "m.gguf")
		require.NoError(t, err)
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, content, got)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 1, "no temporary file is left")
}

func TestExtractConcurrently(t *testing.T) {
	dir := t.TempDir()
	content := make([]byte, 1<<20)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			path, err := extract(content, dir, "m.gguf")
			if err != nil {
				t.Error(err)
				return
			}
			got, err := os.ReadFile(path)
			if err != nil || len(got) != len(content) {
				t.Errorf("read %d bytes, %v", len(got), err)
			}
		})
	}
	wg.Wait()
}
