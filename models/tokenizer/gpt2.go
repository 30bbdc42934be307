package tokenizer

// gpt2Pattern is the pre-tokenizer of GPT-2 (Radford et al. 2019).
const gpt2Pattern = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

// smollmPatterns cut one after the other, each within the pieces that the ones before it left: SmolLM cuts out every
// digit, then what lies between is a text of its own to the pattern of GPT-2.
var smollmPatterns = []string{`\p{N}`, gpt2Pattern}

func splitGPT2(text string) int { return gpt2Word(text, nothing) }

func splitSmolLM(text string) int {
	if _, c, size := first(text); c == number {
		return size
	}
	return gpt2Word(text, digit)
}

// boundary says of a character whether it was cut out before: to gpt2Word the text ends before it.
type boundary func(r rune, c class) bool

func nothing(rune, class) bool { return false }

func digit(_ rune, c class) bool { return c == number }

// gpt2Word matches gpt2Pattern at a text that does not begin with a boundary.
func gpt2Word(text string, ends boundary) int {
	if n := contraction(text, 0); n > 0 {
		return n
	}
	r, c, size := first(text)
	if c == space {
		r2, c2, _ := first(text[size:])
		if r != ' ' || size == len(text) || c2 == space || ends(r2, c2) {
			return whitespace(text, ends)
		}
		c = c2
	} else {
		size = 0
	}
	for size < len(text) {
		r, k, n := first(text[size:])
		if k != c || ends(r, k) {
			break
		}
		size += n
	}
	return size
}

// whitespace matches \s+(?!\S)|\s+.
func whitespace(text string, ends boundary) int {
	end, last := 0, 0
	for end < len(text) {
		r, c, size := first(text[end:])
		if ends(r, c) {
			return end
		}
		if c != space {
			return leaveLast(last, end, false)
		}
		last = end
		end += size
	}
	return end
}
