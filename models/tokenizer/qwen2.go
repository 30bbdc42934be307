package tokenizer

// qwen2Pattern is the pre-tokenizer of the Qwen2 family, from its tokenizer configuration. splitQwen2 is the same by
// hand; the tests compare the two.
const qwen2Pattern = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`

func splitQwen2(text string) int {
	r, c, size := first(text)
	if n := contraction(text); n > 0 {
		return n
	}
	rest := text[size:]

	// [^\r\n\p{L}\p{N}]?\p{L}+
	if c == letter {
		return size + run(rest, letter)
	}
	if c != number && r != '\r' && r != '\n' {
		if n := run(rest, letter); n > 0 {
			return size + n
		}
	}
	if c == number {
		return size
	}

	// " ?[^\s\p{L}\p{N}]+[\r\n]*"
	if c == other {
		n := size + run(rest, other)
		return n + newlines(text[n:])
	}
	if r == ' ' {
		if n := run(rest, other); n > 0 {
			return size + n + newlines(rest[n:])
		}
	}
	return whitespace(text)
}

// contraction matches (?i:'s|'t|'re|'ve|'m|'ll|'d) in ASCII.
func contraction(text string) int {
	if len(text) < 2 || text[0] != '\'' {
		return 0
	}
	a := text[1] | 0x20
	switch a {
	case 's', 't', 'm', 'd':
		return 2
	}
	if len(text) < 3 {
		return 0
	}
	b := text[2] | 0x20
	if a == 'r' && b == 'e' || a == 'v' && b == 'e' || a == 'l' && b == 'l' {
		return 3
	}
	return 0
}

func newlines(text string) int {
	n := 0
	for n < len(text) && (text[n] == '\r' || text[n] == '\n') {
		n++
	}
	return n
}

// whitespace matches \s*[\r\n]+|\s+(?!\S)|\s+ at a text that begins with white space: up to the last line break of the
// run; else all of it at the end of the text; else all but the last character, which goes with the next word; else that
// one.
func whitespace(text string) int {
	end, last, broken := 0, 0, 0
	for end < len(text) {
		r, c, size := first(text[end:])
		if c != space {
			break
		}
		last = end
		end += size
		if r == '\r' || r == '\n' {
			broken = end
		}
	}
	switch {
	case broken > 0:
		return broken
	case end == len(text) || last == 0:
		return end
	}
	return last
}
