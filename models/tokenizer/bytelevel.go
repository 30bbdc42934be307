package tokenizer

import (
	"strings"
	"unicode/utf8"
)

// Byte-level BPE writes each byte of a token as a printable character: bytes that are printable in Latin-1 as
// themselves, the others in order from U+0100 on (GPT-2; Radford et al. 2019). A space becomes "Ġ".
var (
	byteToRune [256]rune
	runeToByte [0x144]int16 // -1 for characters that stand for no byte; there are 68 that are not themselves
)

func init() {
	for r := range runeToByte {
		runeToByte[r] = -1
	}
	next := rune(0x100)
	for b := range 256 {
		r := rune(b)
		printable := b >= '!' && b <= '~' || b >= 0xA1 && b <= 0xAC || b >= 0xAE
		if !printable {
			r = next
			next++
		}
		byteToRune[b] = r
		runeToByte[r] = int16(b)
	}
}

// fromByteLevel gives the bytes that the text of a token stands for. A character that stands for no byte stands for
// itself.
func fromByteLevel(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if int(r) < len(runeToByte) && runeToByte[r] >= 0 {
			b.WriteByte(byte(runeToByte[r]))
		} else {
			b.WriteString(text[i : i+n])
		}
		i += n
	}
	return b.String()
}
