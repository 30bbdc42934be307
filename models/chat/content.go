package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// UnmarshalJSON reads a string, null or a list of parts. Parts of other types than text are kept; rendering refuses
// them.
func (c *Content) UnmarshalJSON(b []byte) error {
	b = bytes.TrimSpace(b)
	switch {
	case bytes.Equal(b, []byte("null")):
		*c = nil
		return nil
	case len(b) > 0 && b[0] == '"':
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return fmt.Errorf("content: %w", err)
		}
		*c = Text(s)
		return nil
	case len(b) > 0 && b[0] == '[':
		parts := []Part{}
		if err := json.Unmarshal(b, &parts); err != nil {
			return fmt.Errorf("content: %w", err)
		}
		*c = parts
		return nil
	}
	return fmt.Errorf("content is %.20q, expected a string, null, or a list of parts {\"type\": \"text\", \"text\": ...}", b)
}

// MarshalJSON writes a single text as a string, no content as null, else the parts.
func (c Content) MarshalJSON() ([]byte, error) {
	switch {
	case c == nil:
		return []byte("null"), nil
	case len(c) == 1 && c[0].Type == "text":
		return json.Marshal(c[0].Text)
	}
	return json.Marshal([]Part(c))
}

// String joins the texts of the parts by line breaks.
func (c Content) String() string {
	texts := make([]string, len(c))
	for i, p := range c {
		texts[i] = p.Text
	}
	return strings.Join(texts, "\n")
}

func (c Content) check(field string) error {
	for i, p := range c {
		if p.Type != "text" {
			return &InputError{
				Field: fmt.Sprintf("%s[%d].type", field, i),
				Err:   fmt.Errorf("is %q, but the model takes text only (\"text\")", p.Type),
			}
		}
	}
	return nil
}
