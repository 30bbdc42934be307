package grammar

// Rules for JSON (RFC 8259). What is left out of it on purpose, so that a model which has lost its way cannot go on for ever: white
// space is at most one space, or a line break with an indentation; numbers have at most 18 digits before and after the point, and
// three in the exponent.
const (
	mostDigits   = 18
	mostIndent   = 64
	mostTabs     = 16
	mostExponent = 3
)

// space is what may stand between tokens of JSON.
func (b *builder) space() frag {
	return b.plain("space", func() frag {
		return b.alt(b.empty(), b.text(" "), b.seq(b.text("\n"), b.alt(
			b.repeat(func() frag { return b.text(" ") }, 0, mostIndent), b.repeat(func() frag { return b.text("\t") }, 1, mostTabs))))
	})
}

// value is any JSON value.
func (b *builder) value() frag {
	return b.plain("value", func() frag {
		return b.alt(b.object(), b.array(), b.quoted(), b.number(), b.text("true"), b.text("false"), b.text("null"))
	})
}

// object is any object.
func (b *builder) object() frag {
	return b.plain("object", func() frag {
		member := func() frag { return b.seq(b.quoted(), b.colon(), b.value()) }
		return b.braces(b.list(member()))
	})
}

// array is any array.
func (b *builder) array() frag {
	return b.plain("array", func() frag { return b.brackets(b.list(b.value())) })
}

// list is one item or more, with commas between.
func (b *builder) list(item frag) frag {
	back := b.comma()
	in, out := b.node(), b.node()
	b.skip(in, item.in)
	b.skip(item.out, back.in)
	b.skip(back.out, item.in)
	b.skip(item.out, out)
	return frag{in, out}
}

// braces is an object with these members, or with none.
func (b *builder) braces(members frag) frag {
	return b.alt(b.text("{}"), b.seq(b.text("{"), b.space(), members, b.space(), b.text("}")))
}

// brackets is an array with these items, or with none.
func (b *builder) brackets(items frag) frag {
	return b.alt(b.text("[]"), b.seq(b.text("["), b.space(), items, b.space(), b.text("]")))
}

func (b *builder) colon() frag { return b.alt(b.text(":"), b.text(": ")) }
func (b *builder) comma() frag { return b.seq(b.text(","), b.space()) }

// number is any number.
func (b *builder) number() frag {
	return b.plain("number", func() frag {
		fraction := b.seq(b.text("."), b.digits(1, mostDigits))
		exponent := b.seq(b.class("eE"), b.opt(b.class("+-")), b.digits(1, mostExponent))
		return b.seq(b.opt(b.text("-")), b.whole(), b.opt(fraction), b.opt(exponent))
	})
}

// integer is any number without fraction and exponent.
func (b *builder) integer() frag {
	return b.plain("integer", func() frag { return b.seq(b.opt(b.text("-")), b.whole()) })
}

// whole is the digits before the point.
func (b *builder) whole() frag {
	return b.alt(b.text("0"), b.seq(b.byteFrom('1', '9'), b.digits(0, mostDigits-1)))
}

// digits is least to most digits.
func (b *builder) digits(least, most int) frag {
	return b.repeat(func() frag { return b.byteFrom('0', '9') }, least, most)
}

// quoted is any string.
func (b *builder) quoted() frag {
	return b.plain("string", func() frag { return b.seq(b.text(`"`), b.star(b.character()), b.text(`"`)) })
}

// character is one character of a string, written as itself or escaped.
func (b *builder) character() frag {
	hex := "0123456789abcdefABCDEF"
	any4 := func() frag {
		return b.alt(
			b.seq(b.class("0123456789abcefABCEF"), b.class(hex), b.class(hex), b.class(hex)),
			b.seq(b.class("dD"), b.class("01234567"), b.class(hex), b.class(hex)))
	}
	high := b.seq(b.class("dD"), b.class("89abAB"), b.class(hex), b.class(hex))
	low := b.seq(b.text(`\u`), b.class("dD"), b.class("cdefCDEF"), b.class(hex), b.class(hex))
	escape := b.seq(b.text(`\`), b.alt(b.class(`"\/bfnrt`), b.seq(b.text("u"), b.alt(any4(), b.seq(high, low)))))
	return b.alt(b.runes(rawRunes), escape)
}

// rawRunes are the characters that a string may have unescaped.
var rawRunes = []span{{0x20, '"' - 1}, {'"' + 1, '\\' - 1}, {'\\' + 1, 0xD7FF}, {0xE000, 0x10FFFF}}
