package tokenizer

// Options says how Encode reads a text. The zero value reads it as plain text and adds nothing.
type Options struct {
	// ParseSpecial reads the spelling of a control token ("<|im_end|>") as that token. Without it such text is
	// tokenized like any other: nobody who only supplies text can forge a turn. User-defined tokens ("<tool_call>")
	// are ordinary text with an id of their own, and are read as such in either case.
	ParseSpecial bool

	// AddSpecial adds the begin- and end-of-sequence tokens that the file asks for (add_bos_token, add_eos_token); no second begin
	// with ParseSpecial, if the text begins with one.
	AddSpecial bool

	// PlainMark, if not 0, is a rune that breaks a special spelling wherever it stands inside one. It is taken out
	// of the text after special tokens were recognised, so that the text on both sides of it joins up as plain text.
	PlainMark rune
}

// DecodeOptions says how ids become text. The zero value gives the exact text, control tokens spelled out.
type DecodeOptions struct {
	SkipSpecial bool // control tokens give no text

	// Whole says that the ids are those of a whole text as Encode gives them, not of one that goes on from another. The
	// space that some vocabularies put before the first word, and before one behind a special token, is then left out.
	Whole bool
}

// Type is the kind of a token, numbered as `tokenizer.ggml.token_type` numbers them (GGUF specification).
type Type int32

// The token types of GGUF.
const (
	Normal      Type = 1
	Unknown     Type = 2
	Control     Type = 3
	UserDefined Type = 4
	Unused      Type = 5
	Byte        Type = 6
)

func (t Type) String() string {
	switch t {
	case Normal:
		return "normal"
	case Unknown:
		return "unknown"
	case Control:
		return "control"
	case UserDefined:
		return "user-defined"
	case Unused:
		return "unused"
	case Byte:
		return "byte"
	}
	return "invalid"
}

// None is the id of a special token that the vocabulary does not have.
const None int32 = -1

// Special are the ids that the file's metadata names; None where it names none.
type Special struct {
	BOS, EOS, EOT, EOM, Unknown, Padding int32
	AddBOS, AddEOS                       bool
}
