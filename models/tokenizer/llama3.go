package tokenizer

// The pre-tokenizers of the Llama 3 and Qwen2 families, from their tokenizer configurations. They differ in how many
// digits make a word. splitLlama3 and splitQwen2 are the same by hand; the tests compare them with the patterns.
const (
	llama3Pattern = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	qwen2Pattern  = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

func splitLlama3(text string) int { return splitWithDigits(text, 3) }

func splitQwen2(text string) int { return splitWithDigits(text, 1) }

func splitWithDigits(text string, digits int) int {
	r, c, size := first(text)
	if n := contraction(text, 0x20); n > 0 {
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

	// \p{N}{1,3} or \p{N}
	if c == number {
		for n := 1; n < digits; n++ {
			_, c, more := first(text[size:])
			if c != number {
				break
			}
			size += more
		}
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
	return lines(text)
}

// contraction matches 's|'t|'re|'ve|'m|'ll|'d. fold is 0x20 to match without regard to case, else 0.
func contraction(text string, fold byte) int {
	if len(text) < 2 || text[0] != '\'' {
		return 0
	}
	a := text[1] | fold
	switch a {
	case 's', 't', 'm', 'd':
		return 2
	}
	if len(text) < 3 {
		return 0
	}
	if fold != 0 && text[1:3] == "ſ" { // the long s, of which S is the capital, too
		return 3
	}
	b := text[2] | fold
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

// lines matches \s*[\r\n]+|\s+(?!\S)|\s+ at a text that begins with white space: up to the last line break of the run,
// else like whitespace.
func lines(text string) int {
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
	if broken > 0 {
		return broken
	}
	return leaveLast(last, end, end == len(text))
}

// leaveLast matches \s+(?!\S)|\s+ on a run of white space of end bytes whose last character begins at last: all of it
// where the text ends behind it, else all but the last character, which goes with the next word; else that one.
func leaveLast(last, end int, final bool) int {
	if final || last == 0 {
		return end
	}
	return last
}
