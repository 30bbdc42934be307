package chat

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ardanlabs/jinja"
)

// roles that the API has. Templates spell turn markers with the role in them (<|user|>), so a role must not be free text.
var roles = []string{"system", "developer", "user", "assistant", "tool", "function"}

// reserved are variables that this package sets.
var reserved = []string{
	"messages", "tools", "documents", "add_generation_prompt", "bos_token", "eos_token", "unk_token", "pad_token",
	"raise_exception", "range", "strftime_now",
}

// ownPrefix begins the names that translated templates use.
const ownPrefix = "tr_"

// conversation gives the request's part of the template's variables.
func (t *Template) conversation(r Request) (map[string]jinja.Value, error) {
	if len(r.Messages) == 0 {
		return nil, &InputError{"messages", fmt.Errorf("there is no message, expected at least one")}
	}
	messages := make([]jinja.Value, len(r.Messages))
	for i, m := range r.Messages {
		v, err := t.message(m, fmt.Sprintf("messages[%d]", i))
		if err != nil {
			return nil, err
		}
		messages[i] = v
	}
	vars := map[string]jinja.Value{
		"messages":              jinja.NewList(messages),
		"add_generation_prompt": jinja.NewBool(!r.NoGenerationPrompt),
		"tools":                 jinja.None(), // defined and none, as in Transformers
		"documents":             jinja.None(),
	}
	if len(r.Tools) > 0 {
		if t.toolsErr != nil {
			return nil, &InputError{"tools", t.toolsErr}
		}
		tools := make([]jinja.Value, len(r.Tools))
		for i, raw := range r.Tools {
			v, err := fromJSON(raw)
			if err != nil {
				return nil, &InputError{fmt.Sprintf("tools[%d]", i), err}
			}
			tools[i] = v
		}
		vars["tools"] = jinja.NewList(tools)
	}
	for name, x := range r.Vars {
		v, err := variable(name, x)
		if err != nil {
			return nil, err
		}
		vars[name] = v
	}
	return vars, nil
}

func variable(name string, x any) (jinja.Value, error) {
	field := "template variable " + name
	if slices.Contains(reserved, name) || strings.HasPrefix(name, ownPrefix) {
		return jinja.None(), &InputError{field, fmt.Errorf("this name is set by the server and cannot be given")}
	}
	raw, err := json.Marshal(x)
	if err != nil {
		return jinja.None(), &InputError{field, err}
	}
	v, err := fromJSON(raw)
	if err != nil {
		return jinja.None(), &InputError{field, err}
	}
	return v, nil
}

func (t *Template) message(m Message, field string) (jinja.Value, error) {
	if !slices.Contains(roles, m.Role) {
		return jinja.None(), &InputError{field + ".role", fmt.Errorf("is %q, expected one of %s", m.Role, strings.Join(roles, ", "))}
	}
	if err := m.Content.check(field + ".content"); err != nil {
		return jinja.None(), err
	}
	out := jinja.NewDict()
	set := out.AsDict().Set
	set("role", jinja.NewString(m.Role))
	set("content", t.content(m.Content))
	for _, f := range []struct{ name, text string }{
		{"name", m.Name}, {"tool_call_id", m.ToolCallID}, {"reasoning_content", m.ReasoningContent},
	} {
		if f.text != "" {
			set(f.name, jinja.NewString(f.text))
		}
	}
	if len(m.ToolCalls) > 0 {
		calls := make([]jinja.Value, len(m.ToolCalls))
		for i, c := range m.ToolCalls {
			v, err := toolCall(c)
			if err != nil {
				return jinja.None(), &InputError{fmt.Sprintf("%s.tool_calls[%d].function.arguments", field, i), err}
			}
			calls[i] = v
		}
		set("tool_calls", jinja.NewList(calls))
	}
	return out, nil
}

// content gives text as the template takes it: a string, or a list of parts where it can only do with that.
func (t *Template) content(c Content) jinja.Value {
	switch {
	case c == nil:
		return jinja.None()
	case !t.parts:
		return jinja.NewString(c.String())
	}
	items := make([]jinja.Value, len(c))
	for i, p := range c {
		part := jinja.NewDict()
		part.AsDict().Set("type", jinja.NewString("text"))
		part.AsDict().Set("text", jinja.NewString(p.Text))
		items[i] = part
	}
	return jinja.NewList(items)
}

// toolCall gives a call with its arguments as an object: the API has them as a string of JSON, templates write them by
// tojson. A string that holds no object is passed on as it is: the model may have written anything.
func toolCall(c ToolCall) (jinja.Value, error) {
	arguments := jinja.NewDict()
	if len(c.Function.Arguments) > 0 {
		v, err := fromJSON(c.Function.Arguments)
		if err != nil {
			return v, err
		}
		arguments = v
		if v.IsString() {
			if inner, err := fromJSON([]byte(v.AsString())); err == nil && inner.IsDict() {
				arguments = inner
			}
		}
	}
	function := jinja.NewDict()
	function.AsDict().Set("name", jinja.NewString(c.Function.Name))
	function.AsDict().Set("arguments", arguments)
	out := jinja.NewDict()
	if c.ID != "" {
		out.AsDict().Set("id", jinja.NewString(c.ID))
	}
	out.AsDict().Set("type", jinja.NewString("function"))
	out.AsDict().Set("function", function)
	return out, nil
}
