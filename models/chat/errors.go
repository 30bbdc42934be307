package chat

import "fmt"

// RaisedError carries what the template itself said about a conversation that it refuses (raise_exception), such as
// roles that do not alternate.
type RaisedError struct{ Message string }

func (e *RaisedError) Error() string {
	return "the model's chat template refuses the conversation: " + e.Message
}

// LongError says that a conversation has too many tokens.
type LongError struct{ AtLeast, Most int }

func (e *LongError) Error() string {
	return fmt.Sprintf("the conversation has at least %d tokens; %d are allowed", e.AtLeast, e.Most)
}

// InputError says what is wrong with a Request, before the template sees it.
type InputError struct {
	Field string // as in the API: "messages[2].role"
	Err   error
}

func (e *InputError) Error() string { return fmt.Sprintf("%s: %v", e.Field, e.Err) }

func (e *InputError) Unwrap() error { return e.Err }
