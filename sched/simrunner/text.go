package simrunner

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tokenrouter/tokenrouter/sched"
)

// Text is a tokenizer's output half for simulated models: short pieces, among them halves of characters, bytes that form
// none, and special tokens (the ids below Special).
type Text struct {
	Special int32
}

var _ sched.Text = Text{}

// pieces are the texts of ordinary tokens, by id modulo their number.
var pieces = []string{"a", "b", "c", "ab", "bc", "abc", " ", "\n", "\xc3", "\xa9", "\xf0\x9f", "\x98\x80", "é", "\xff", "d\xc3", ""}

// Piece implements sched.Text.
func (t Text) Piece(id int32) string {
	if id < 0 {
		return ""
	}
	if id < t.Special {
		return fmt.Sprintf("<|%d|>", id)
	}
	return pieces[int(id)%len(pieces)]
}

// NewDetokenizer implements sched.Text.
func (t Text) NewDetokenizer(special bool) sched.Detokenizer {
	return &detokenizer{text: t, special: special}
}

type detokenizer struct {
	text    Text
	special bool
	held    string
}

// Add implements sched.Detokenizer.
func (d *detokenizer) Add(id int32) string {
	if id < d.text.Special && !d.special {
		return ""
	}
	all := d.held + d.text.Piece(id)
	// What may still become a character is held back: a proper prefix of an encoding, at the very end.
	cut := len(all)
	for i := len(all) - 1; i >= 0 && i >= len(all)-utf8.UTFMax; i-- {
		if utf8.RuneStart(all[i]) {
			if !utf8.FullRuneInString(all[i:]) {
				cut = i
			}
			break
		}
	}
	d.held = all[cut:]
	return strings.ToValidUTF8(all[:cut], "\uFFFD")
}

// Flush implements sched.Detokenizer.
func (d *detokenizer) Flush() string {
	rest := strings.ToValidUTF8(d.held, "\uFFFD")
	d.held = ""
	return rest
}
