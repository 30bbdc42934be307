package chat

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ardanlabs/jinja"

	"github.com/tokenrouter/tokenrouter/models/tokenizer"
)

// Template is a compiled chat template with the tokenizer that it was trained with. Immutable; safe for many goroutines.
type Template struct {
	source   string
	compiled *jinja.Template
	tok      *tokenizer.Tokenizer
	fixed    map[string]jinja.Value // variables that are the same in every rendering
	parts    bool                   // content is given as a list of parts: the template cannot do with a string
	toolsErr error                  // why tools cannot be given; nil if they can
	now      func() time.Time
}

// New compiles source and renders a probe conversation with it: what does not compile or render, or leaves out what the
// user said, is an error.
func New(source string, tok *tokenizer.Tokenizer) (*Template, error) {
	translated, err := translate(source)
	if err != nil {
		return nil, fmt.Errorf("chat template: %w", err)
	}
	t := &Template{source: source, tok: tok, fixed: tokenVars(tok), now: time.Now}
	if t.compiled, err = compile(translated); err != nil {
		return nil, fmt.Errorf("chat template: %w", err)
	}
	if err := t.probe(); err != nil {
		return nil, fmt.Errorf("chat template, rendering a conversation to try it: %w", err)
	}
	return t, nil
}

// compile guards against panics of the engine, which a template must not be able to cause.
func compile(source string) (t *jinja.Template, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the template engine panicked: %v", p)
		}
	}()
	return jinja.Compile(source)
}

// tokenVars gives the special tokens by the names that templates use.
func tokenVars(tok *tokenizer.Tokenizer) map[string]jinja.Value {
	s := tok.Special()
	vars := map[string]jinja.Value{}
	for name, id := range map[string]int32{
		"bos_token": s.BOS, "eos_token": s.EOS, "unk_token": s.Unknown, "pad_token": s.Padding,
	} {
		if text, _, ok := tok.Token(id); ok {
			vars[name] = jinja.NewString(text)
		}
	}
	return vars
}

// Source is the Jinja text.
func (t *Template) Source() string { return t.source }

// Render gives the text of the conversation as the template writes it. Use Prompt for what a model is to read: in the
// text alone, turns that the template opened look like those that a user wrote.
//
// A Request that is not as it should be is an *InputError, one that the template refuses in its own words a
// *RaisedError; other errors are faults of the template.
func (t *Template) Render(r Request) (string, error) {
	vars, err := t.conversation(r)
	if err != nil {
		return "", err
	}
	return t.render(vars)
}

// Prompt gives the token ids of the conversation, the begin-of-sequence token once if the file asks for it. Special
// tokens come from the template alone: their spelling in messages, tools or variables is plain text. Errors are those of
// Render, and a *LongError.
func (t *Template) Prompt(r Request) ([]int32, error) {
	vars, err := t.conversation(r)
	if err != nil {
		return nil, err
	}
	mark, err := t.markAll(vars)
	if err != nil {
		return nil, err
	}
	text, err := t.render(vars)
	if raised := (*RaisedError)(nil); errors.As(err, &raised) {
		return nil, &RaisedError{strings.ReplaceAll(raised.Message, string(mark), "")}
	}
	if err != nil {
		return nil, err
	}
	if r.Most > 0 {
		bytes := len(text) - strings.Count(text, string(mark))*utf8.RuneLen(mark)
		if n := t.tok.AtLeast(bytes); n > r.Most {
			return nil, &LongError{n, r.Most}
		}
	}
	ids := t.tok.Encode(text, tokenizer.Options{ParseSpecial: true, PlainMark: mark})
	if s := t.tok.Special(); s.AddBOS && (len(ids) == 0 || ids[0] != s.BOS) {
		ids = append([]int32{s.BOS}, ids...)
	}
	return ids, nil
}

// render runs the template. The engine may panic where a template does what it does not expect.
func (t *Template) render(vars map[string]jinja.Value) (text string, err error) {
	g := newGuard(vars)
	all := map[string]jinja.Value{
		"raise_exception": jinja.NewCallable("raise_exception", raise),
		"range":           jinja.NewCallable("range", g.charged(limitedRange)),
		"strftime_now":    jinja.NewCallable("strftime_now", g.charged(t.strftimeNow)),
	}
	for name, f := range g.functions() {
		all[name] = jinja.NewCallable(name, g.charged(f))
	}
	for name, f := range g.bounds() {
		all[name] = jinja.NewCallable(name, f)
	}
	maps.Copy(all, t.fixed)
	maps.Copy(all, vars)
	defer func() {
		if p := recover(); p != nil {
			text, err = "", fmt.Errorf("the chat template makes the template engine panic: %v", p)
		}
	}()
	text, err = t.compiled.RenderValues(all)
	if raised := (*RaisedError)(nil); err != nil && !errors.As(err, &raised) {
		err = fmt.Errorf("the chat template fails: %w", err)
		if len(err.Error()) > maxMessage {
			err = errors.New(shortened(err.Error()))
		}
	}
	return text, err
}

func raise(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	if len(args) == 0 || !args[0].IsString() {
		return jinja.None(), &RaisedError{"it gives no reason"}
	}
	return jinja.None(), &RaisedError{shortened(args[0].AsString())}
}

// maxMessage bounds errors in whose words a template has a say.
const maxMessage = 4 << 10

func shortened(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage], "") + " ..."
}
