package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// needle and toolNeedle are what the probe looks for in the answer. Templates leave such words alone.
const (
	needle     = "tokenrouterprobe"
	toolNeedle = "tokenrouterprobetool"
)

// probe renders conversations to see whether the template works: a question, with content as a string and if need be as
// parts; then turns that not every template takes, where it may refuse in its own words but not fail; then tools.
func (t *Template) probe() error {
	if err := t.probeQuestion(); err != nil {
		return err
	}
	for name, ms := range map[string][]Message{
		"with a system message": {System(needle), User(needle)},
		"with an answer":        {User(needle), Assistant(needle), User(needle)},
	} {
		_, err := t.Render(Request{Messages: ms})
		if raised := (*RaisedError)(nil); err != nil && !errors.As(err, &raised) {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	t.toolsErr = t.probeTools()
	return nil
}

func (t *Template) probeQuestion() error {
	try := Request{Messages: []Message{User(needle)}}
	var failed error
	for _, t.parts = range []bool{false, true} {
		text, err := t.Render(try)
		if err == nil && !strings.Contains(text, needle) {
			err = errors.New("the user's message is not in what it gives")
		}
		if err == nil && t.parts && strings.Contains(text, `'text': '`+needle) {
			err = errors.New("it prints the user's message as a data structure")
		}
		if err == nil {
			return nil
		}
		if failed == nil {
			failed = err
		}
	}
	return failed
}

// probeTools says why the template cannot be given tools.
func (t *Template) probeTools() error {
	tool := json.RawMessage(`{"type": "function", "function": {"name": "` + toolNeedle + `", "description": "a probe", ` +
		`"parameters": {"type": "object", "properties": {"x": {"type": "string", "description": "a value"}}, "required": ["x"]}}}`)
	text, err := t.Render(Request{Messages: []Message{User(needle)}, Tools: []json.RawMessage{tool}})
	switch {
	case err != nil:
		return fmt.Errorf("the model's chat template does not take tools: given one, it answers: %w", err)
	case !strings.Contains(text, toolNeedle):
		return errors.New("the model's chat template does not take tools: it leaves them out of the prompt")
	}
	return nil
}

// ToolsErr says why tools cannot be given to the template; nil if they can.
func (t *Template) ToolsErr() error { return t.toolsErr }
