// Package chat renders a conversation by the chat template of a GGUF file, run as Jinja, and turns it into token ids in
// which no user-supplied text can forge a special token.
//
//	t, err := chat.New(source, tok)                    // compiled, and a probe conversation rendered
//	ids, err := t.Prompt(chat.Request{Messages: []chat.Message{chat.User("hello")}})
//
// A template that does not compile or render is an error that carries its own words (raise_exception). It is never
// replaced by another template: a prompt in a format that the model was not trained on gives nonsense, silently.
//
// A Template is immutable and safe for use by many goroutines.
package chat
