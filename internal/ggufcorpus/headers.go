package ggufcorpus

import "math"

// Offsets are counted by hand: magic at byte 0, version 4, number of tensors 8, of pairs 16, first pair or tensor 24.
func headers() []made {
	return []made{
		good("good-nothing", header(0, 0)),
		good("good-version-2", join([]byte("GGUF"), u32(2), u64(1), u64(1), pair("a", tU32, u32(7)), entry("t", 0, 0, 4), zeros(64))),
		good("good-bytes-behind-the-data", join(table(entry("a", 0, 0, 4)), zeros(77))),

		bad("empty", 0, nil, "not a GGUF file", "the magic needs 4 bytes, but 0 are left"),
		bad("magic-cut", 0, []byte("GGU"), "not a GGUF file", "the magic needs 4 bytes, but 3 are left"),
		bad("magic-lower-case", 0, join([]byte("gguf"), zeros(60)), `it begins with the bytes "gguf", expected "GGUF"`),
		bad("magic-older", 0, join([]byte("ggjt"), zeros(60)), "not a GGUF file", `"ggjt"`),
		bad("magic-of-html", 0, []byte("<html>not found</html>"), "not a GGUF file", `"<htm"`),
		bad("version-missing", 4, []byte("GGUF\x03\x00"), "the version needs 4 bytes, but 2 are left"),
		bad("version-0", 4, join([]byte("GGUF"), u32(0), zeros(16)), "version is 0, expected 2 or 3"),
		bad("version-1", 4, join([]byte("GGUF"), u32(1), zeros(16)), "version is 1, expected 2 or 3"),
		bad("version-4", 4, join([]byte("GGUF"), u32(4), zeros(16)), "version is 4, expected 2 or 3"),
		bad("version-2-to-the-32", 4, join([]byte("GGUF"), u32(math.MaxUint32), zeros(16)), "version is 4294967295"),
		bad("big-endian-2", 4, join([]byte("GGUF"), []byte{0, 0, 0, 2}, zeros(16)), "big-endian"),
		bad("big-endian-3", 4, join([]byte("GGUF"), []byte{0, 0, 0, 3}, zeros(16)), "big-endian"),
		bad("counts-missing", 8, join([]byte("GGUF"), u32(3)), "the number of tensors needs 8 bytes, but 0 are left"),
		bad("pair-count-missing", 16, join([]byte("GGUF"), u32(3), u64(0), zeros(3)), "the number of metadata pairs needs 8 bytes"),
		bad("tensors-too-many", 8, header(3, 0, zeros(60)), "the file has 3 tensors of at least 33 bytes each"),
		bad("tensors-2-to-the-64", 8, header(math.MaxUint64, 0), "the file has 18446744073709551615 tensors"),
		bad("tensors-wrap", 8, header(1<<61, 0, zeros(64)), "the file has 2305843009213693952 tensors"),
		bad("tensors-one-more", 72, header(2, 0, entry("abcdefgh", 0, 0, 4), zeros(40)), `tensor 1, at byte 72: the name is empty`),
		bad("pairs-too-many", 16, header(0, 3, zeros(40)), "the file has 3 metadata pairs of at least 14 bytes each"),
		bad("pairs-2-to-the-63", 16, header(0, 1<<63), "9223372036854775808 metadata pairs"),
		bad("pairs-one-more", 48, header(0, 2, pair("abcdefgh", tU32, u32(1)), zeros(5)), "the length of the key needs 8 bytes, but 5"),
	}
}
