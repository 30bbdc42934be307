package ggufcorpus

import "math"

// everyValue has one pair of each type.
func everyValue() [][]byte {
	return [][]byte{
		pair("a.u8", tU8, num(uint8(200))), pair("a.i8", tI8, num(int8(-5))), pair("a.u16", tU16, num(uint16(60000))),
		pair("a.i16", tI16, num(int16(-300))), pair("a.u32", tU32, u32(4e9)), pair("a.i32", tI32, num(int32(-70000))),
		pair("a.f32", tF32, num(float32(0.5))), pair("a.bool", tBool, []byte{1}), pair("a.string", tString, str("日本 x")),
		pair("a.u64", tU64, u64(math.MaxUint64)), pair("a.i64", tI64, num(int64(-1<<40))), pair("a.f64", tF64, num(1e-300)),
		pair("b.u8", tArray, array(tU8, 2, []byte{1, 2})), pair("b.i16", tArray, array(tI16, 2, num([]int16{-9, 9}))),
		pair("b.f32", tArray, array(tF32, 1, num(float32(1.5)))), pair("b.bool", tArray, array(tBool, 2, []byte{1, 0})),
		pair("b.string", tArray, stringArray([]string{"", "Ġhello", "\xff"})), pair("b.u64", tArray, array(tU64, 1, u64(1<<63))),
		pair("b.none", tArray, array(tString, 0)), pair("b.f64", tArray, array(tF64, 1, num(2.25))),
	}
}

func values() []made {
	one := func(value ...[]byte) []byte { return header(0, 1, join(value...)) } // a file of one pair, whose key is "a"
	align := func(typ uint32, value []byte) []byte { return header(0, 1, pair("general.alignment", typ, value)) }
	return []made{
		good("good-every-value", file(everyValue(), nil)),
		good("good-alignment-64", header(2, 1, pair("general.alignment", tU32, u32(64)), entry("a", 0, 0, 4), entry("b", 0, 64, 4), zeros(256))),
		good("good-alignment-1", header(2, 1, pair("general.alignment", tU32, u32(1)), entry("a", 24, 0, 3), entry("b", 24, 3, 3), zeros(6))),
		good("good-alignment-64-KiB-without-tensors", align(tU32, u32(1<<16))),

		bad("key-length-2-to-the-63", 24, one(u64(1<<63), zeros(20)), "the key is 9223372036854775808 bytes long, at most 65535"),
		bad("key-of-64-KiB", 24, one(u64(1<<16), zeros(20)), "the key is 65536 bytes long, at most 65535 are allowed"),
		bad("key-behind-the-end", 32, one(u64(1000), zeros(20)), "the key needs 1000 bytes, but 20 are left"),
		bad("key-empty", 32, one(pair("", tU32, u32(1))), "metadata pair 0, at byte 32: the key is empty"),
		bad("key-not-utf8", 32, one(pair("a\xff", tU32, u32(1))), "metadata pair 0", `the key "a\xff" is not UTF-8`),
		bad("key-overlong-utf8", 32, one(pair("\xc0\x80", tU32, u32(1))), "is not UTF-8"),
		bad("key-surrogate", 32, one(pair("\xed\xa0\x80", tU32, u32(1))), "is not UTF-8"),
		bad("key-above-unicode", 32, one(pair("\xf4\x90\x80\x80", tU32, u32(1))), "is not UTF-8"),
		bad("key-twice", 49, header(0, 2, pair("a", tU32, u32(1)), pair("a", tU32, u32(1))), `key "a", at byte 49: the key occurs twice`),
		bad("key-twice-as-other-type", 49, header(0, 2, pair("a", tU32, u32(1)), pair("a", tString, str("x"))), `key "a", at byte 49: the key occurs twice`),
		bad("value-type-missing", 38, one(str("abcdef")), `key "abcdef", at byte 38: the value type needs 4 bytes`),
		bad("value-type-13", 33, one(pair("a", 13, zeros(8))), `key "a"`, "unknown value type 13"),
		bad("value-type-2-to-the-32", 33, one(pair("a", math.MaxUint32, zeros(8))), "unknown value type 4294967295"),
		bad("value-cut", 37, one(pair("a", tF64, zeros(7))), "the float64 needs 8 bytes, but 7 are left"),
		bad("value-missing", 39, one(pair("abc", tBool)), `key "abc"`, "the bool needs 1 bytes, but 0 are left"),
		bad("bool-of-2", 37, one(pair("a", tBool, []byte{2})), `key "a", at byte 37: a bool is the byte 2, expected 0 or 1`),
		bad("string-length-2-to-the-62", 37, one(pair("a", tString, u64(1<<62))), "the string is 4611686018427387904 bytes long, at most 16777216"),
		bad("string-above-16-MiB", 37, one(pair("a", tString, u64(16<<20+1))), "the string is 16777217 bytes long, at most 16777216 are allowed"),
		bad("string-behind-the-end", 45, one(pair("a", tString, u64(9), zeros(8))), "the string needs 9 bytes, but 8 are left"),
		bad("string-without-length", 37, one(pair("a", tString, zeros(3))), "the length of the string needs 8 bytes"),

		bad("array-of-arrays", 37, one(pair("a", tArray, array(tArray, 1, array(tU32, 1, u32(1))))), "an array of arrays"),
		bad("array-of-no-arrays", 37, one(pair("a", tArray, array(tArray, 0))), "an array of arrays"),
		bad("array-of-type-77", 37, one(pair("a", tArray, array(77, 1, zeros(8)))), "unknown element type 77"),
		bad("array-without-type", 39, one(pair("abc", tArray), zeros(3)), "the element type of the array needs 4 bytes, but 3 are left"),
		bad("array-without-length", 41, one(pair("a", tArray, u32(tU32), zeros(2))), "the length of the array needs 8 bytes"),
		bad("array-too-long", 41, one(pair("a", tArray, array(tU32, 3, zeros(11)))), "the array has 3 elements of type uint32"),
		bad("array-length-wraps", 41, one(pair("a", tArray, array(tF64, 1<<61+1, zeros(8)))), "the array has 2305843009213693953 elements"),
		bad("array-of-2-to-the-40-bytes", 41, one(pair("a", tArray, array(tU8, 1<<40))), "the array has 1099511627776 elements of type uint8"),
		bad("string-array-too-long", 41, one(pair("a", tArray, array(tString, 1<<40, zeros(80)))), "the array has 1099511627776 elements of type string"),
		bad("string-array-element-cut", 66, one(pair("a", tArray, array(tString, 2, str("x"), u64(5), []byte("four")))), "element 1 of the array: the string needs 5 bytes, but 4"),
		bad("string-array-element-too-long", 58, one(pair("a", tArray, array(tString, 2, str("x"), u64(1<<40)))), "element 1 of the array: the string is 1099511627776 bytes long"),
		bad("string-array-one-more", 65, one(pair("a", tArray, array(tString, 2, str("12345678"), zeros(3)))), "element 1 of the array: the length of the string needs 8 bytes, but 3"),
		bad("bool-array-of-3", 49, one(pair("a", tArray, array(tBool, 2, []byte{1, 3}))), "element 1 of the array: a bool is the byte 3"),

		bad("alignment-0", 53, align(tU32, u32(0)), `key "general.alignment", at byte 53: is 0, expected a power of two`),
		bad("alignment-48", 53, align(tU32, u32(48)), `key "general.alignment", at byte 53: is 48`),
		bad("alignment-128-KiB", 53, align(tU32, u32(1<<17)), "is 131072, expected a power of two up to 65536"),
		bad("alignment-2-to-the-31", 53, align(tU32, u32(1<<31)), "is 2147483648, expected a power of two up to 65536"),
		bad("alignment-uint64", 53, align(tU64, u64(32)), "is of type uint64, expected uint32"),
		bad("alignment-int32", 53, align(tI32, u32(32)), "is of type int32, expected uint32"),
		bad("alignment-string", 53, align(tString, str("32")), "is of type string, expected uint32"),
		bad("alignment-array", 53, align(tArray, array(tU32, 1, u32(32))), "is of type array of uint32, expected uint32"),
	}
}
