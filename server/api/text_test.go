package api

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// said is what the tests read of an answer or of a chunk.
type said struct {
	Choices []struct {
		Message struct{ Content string }
		Delta   struct{ Content string }
	}
}

// content is the text of an answer in one piece.
func content(t *testing.T, body string) string {
	t.Helper()
	require.Contains(t, body, `"object":"chat.completion"`)
	return contentOf(body)
}

func contentOf(body string) string {
	var a said
	if err := json.Unmarshal([]byte(body), &a); err != nil || len(a.Choices) != 1 {
		return "not an answer: " + body
	}
	return a.Choices[0].Message.Content
}

// joined is the text of a whole stream.
func joined(stream string) string {
	var b strings.Builder
	for line := range strings.Lines(stream) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var c said
		if err := json.Unmarshal([]byte(data), &c); err != nil || len(c.Choices) != 1 {
			return "not a chunk: " + data
		}
		b.WriteString(c.Choices[0].Delta.Content)
	}
	if !strings.HasSuffix(stream, "data: [DONE]\n\n") {
		return "no end: " + stream
	}
	return b.String()
}
