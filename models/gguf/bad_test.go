package gguf

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func u32(x uint32) []byte { return binary.LittleEndian.AppendUint32(nil, x) }
func u64(x uint64) []byte { return binary.LittleEndian.AppendUint64(nil, x) }

// key is a string as it lies in a file.
func key(s string) []byte { return append(u64(uint64(len(s))), s...) }

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// header is a version 3 file with these counts and what follows them.
func header(tensors, pairs uint64, rest ...[]byte) []byte {
	return join([]byte("GGUF"), u32(3), u64(tensors), u64(pairs), join(rest...))
}

// entry is a tensor table entry.
func entry(name string, typ uint32, off uint64, dims ...uint64) []byte {
	b := join(key(name), u32(uint32(len(dims))))
	for _, d := range dims {
		b = append(b, u64(d)...)
	}
	return join(b, u32(typ), u64(off))
}

func zeros(n int) []byte { return make([]byte, n) }

type badFile struct {
	name   string
	bytes  []byte
	offset int64  // of what is wrong; counted by hand: magic 0, version 4, tensors 8, pairs 16, first pair 24
	want   string // in the message
}

func badFiles() []badFile {
	pair := func(k string, typ uint32, v ...[]byte) []byte { return join(key(k), u32(typ), join(v...)) }
	tensorAt := func(e ...[]byte) []byte { return header(uint64(len(e)), 0, join(e...), zeros(512)) }
	return []badFile{
		{"empty", nil, 0, "not a GGUF file"},
		{"three bytes", []byte("GGU"), 0, "the magic needs 4 bytes, but 3 are left"},
		{"lower-case magic", append([]byte("gguf"), zeros(60)...), 0, `it begins with the bytes "gguf", expected "GGUF"`},
		{"older magic", append([]byte("ggjt"), zeros(60)...), 0, "not a GGUF file"},
		{"version 0", join([]byte("GGUF"), u32(0), zeros(16)), 4, "version is 0, expected 2 or 3"},
		{"version 1", join([]byte("GGUF"), u32(1), zeros(16)), 4, "version is 1, expected 2 or 3"},
		{"version 4", join([]byte("GGUF"), u32(4), zeros(16)), 4, "version is 4, expected 2 or 3"},
		{"big-endian", join([]byte("GGUF"), []byte{0, 0, 0, 3}, zeros(16)), 4, "big-endian"},
		{"no counts", join([]byte("GGUF"), u32(3)), 8, "the number of tensors needs 8 bytes, but 0 are left"},
		{"too many tensors", header(3, 0, zeros(60)), 8, "the file has 3 tensors of at least 33 bytes each"},
		{"tensor count 2^64-1", header(math.MaxUint64, 0), 8, "the file has 18446744073709551615 tensors"},
		{"too many pairs", header(0, 3, zeros(40)), 16, "the file has 3 metadata pairs of at least 14 bytes each"},
		{"pair count 2^63", header(0, 1<<63), 16, "metadata pairs"},

		{"key length 2^63", header(0, 1, u64(1<<63), zeros(20)), 24, "is 9223372036854775808 bytes long, at most 65535"},
		{"key of 64 KiB", header(0, 1, pair(strings.Repeat("k", 1<<16), 7, []byte{1})), 24, "at most 65535 are allowed"},
		{"key behind the end", header(0, 1, u64(1000), zeros(20)), 32, "the key needs 1000 bytes, but 20 are left"},
		{"empty key", header(0, 1, pair("", 4, u32(1))), 32, "metadata pair 0, at byte 32: the key is empty"},
		{"key not UTF-8", header(0, 1, pair("a\xff", 4, u32(1))), 32, `the key "a\xff" is not UTF-8`},
		{"key twice", header(0, 2, pair("a", 4, u32(1)), pair("a", 4, u32(1))), 49, `key "a", at byte 49: the key occurs twice`},
		{"no value type", header(0, 1, key("abcdef")), 38, "the value type needs 4 bytes"},
		{"value type 13", header(0, 1, pair("a", 13, zeros(8))), 33, "unknown value type 13"},
		{"value type 2^32-1", header(0, 1, pair("a", math.MaxUint32, zeros(8))), 33, "unknown value type 4294967295"},
		{"value cut", header(0, 1, pair("a", 12, zeros(7))), 37, "the float64 needs 8 bytes, but 7 are left"},
		{"bool of 2", header(0, 1, pair("a", 7, []byte{2})), 37, "a bool is the byte 2, expected 0 or 1"},
		{"string length 2^62", header(0, 1, pair("a", 8, u64(1<<62))), 37, "at most 16777216 are allowed"},
		{"string above 16 MiB", header(0, 1, pair("a", 8, u64(MaxString+1), zeros(MaxString+1))), 37, "is 16777217 bytes long"},
		{"string behind the end", header(0, 1, pair("a", 8, u64(9), zeros(8))), 45, "the string needs 9 bytes, but 8 are left"},
		{"string without length", header(0, 1, pair("a", 8, zeros(3))), 37, "the length of the string needs 8 bytes"},

		{"array of arrays", header(0, 1, pair("a", 9, u32(9), u64(1), u32(4), u64(1), u32(1))), 37, "an array of arrays"},
		{"array of type 77", header(0, 1, pair("a", 9, u32(77), u64(1), zeros(8))), 37, "unknown element type 77"},
		{"array without count", header(0, 1, pair("a", 9, u32(4), zeros(2))), 41, "the length of the array needs 8 bytes"},
		{"array too long", header(0, 1, pair("a", 9, u32(4), u64(3), zeros(11))), 41, "the array has 3 elements of type uint32"},
		{"array length wraps", header(0, 1, pair("a", 9, u32(12), u64(1<<61+1), zeros(8))), 41, "2305843009213693953 elements"},
		{"string array too long", header(0, 1, pair("a", 9, u32(8), u64(1<<40), zeros(80))), 41, "the array has 1099511627776 elements"},
		{"string in array", header(0, 1, pair("a", 9, u32(8), u64(2), key("x"), u64(5), []byte("four"))), 66, "element 1 of the array: the string needs 5 bytes, but 4"},
		{"string length in array", header(0, 1, pair("a", 9, u32(8), u64(2), key("x"), u64(1<<40))), 58, "element 1 of the array: the string is 1099511627776 bytes"},
		{"bool array of 3", header(0, 1, pair("a", 9, u32(7), u64(2), []byte{1, 3})), 49, "element 1: a bool is the byte 3"},

		{"alignment 0", header(0, 1, pair("general.alignment", 4, u32(0))), 53, "is 0, expected a power of two"},
		{"alignment 48", header(0, 1, pair("general.alignment", 4, u32(48))), 53, `key "general.alignment", at byte 53: is 48`},
		{"alignment 128 KiB", header(0, 1, pair("general.alignment", 4, u32(1<<17))), 53, "expected a power of two up to 65536"},
		{"alignment uint64", header(0, 1, pair("general.alignment", 10, u64(32))), 53, "is of type uint64, expected uint32"},
		{"alignment string", header(0, 1, pair("general.alignment", 8, key("32"))), 53, "is of type string, expected uint32"},

		{"tensor without name", tensorAt(entry("", 0, 0, 4)), 32, "tensor 0, at byte 32: the name is empty"},
		{"tensor name of 65 bytes", tensorAt(entry(strings.Repeat("n", 65), 0, 0, 4)), 24, "is 65 bytes long, at most 64"},
		{"tensor name not UTF-8", tensorAt(entry("a\xc3", 0, 0, 4)), 32, "is not UTF-8"},
		{"tensor twice", tensorAt(entry("a", 0, 0, 4), entry("a", 0, 32, 4)), 65, `tensor "a", at byte 65: the name occurs twice`},
		{"no dimension", tensorAt(entry("a", 0, 0)), 33, "it has 0 dimensions, expected 1 to 4"},
		{"five dimensions", tensorAt(entry("a", 0, 0, 1, 1, 1, 1, 1)), 33, "it has 5 dimensions"},
		{"2^32-1 dimensions", header(1, 0, key("a"), u32(math.MaxUint32), zeros(100)), 33, "it has 4294967295 dimensions"},
		{"dimension 0", tensorAt(entry("a", 0, 0, 4, 0)), 45, "dimension 1 is 0"},
		{"dimension 2^42 wraps", tensorAt(entry("a", 0, 0, 1<<42, 1<<42)), 45, "dimension 1 is 4398046511104: the number of elements overflows"},
		{"elements above 2^63", tensorAt(entry("a", 0, 0, 1<<63)), 37, "the number of elements overflows"},
		{"bytes above 2^63", tensorAt(entry("a", 28, 0, 1<<62)), 45, "the number of bytes overflows"},
		{"dimensions cut", header(1, 0, key("abcdefgh"), u32(3), u64(1), zeros(5)), 52, "a dimension needs 8 bytes, but 5"},
		{"withdrawn type 4", tensorAt(entry("a", 4, 0, 32)), 45, "unknown tensor type 4"},
		{"type 99", tensorAt(entry("a", 99, 0, 32)), 45, "unknown tensor type 99"},
		{"row of 33 in Q8_0", tensorAt(entry("a", 8, 0, 33)), 45, "a row has 33 elements, expected a multiple of the 32 of a Q8_0 block"},
		{"row of 128 in Q4_K", tensorAt(entry("a", 12, 0, 128, 2)), 53, "multiple of the 256 of a Q4_K block"},
		{"offset 8", tensorAt(entry("a", 0, 8, 4)), 49, "its offset 8 is no multiple of the alignment 32"},
		{"offset behind the end", tensorAt(entry("a", 0, 1<<20, 4)), 49, "its offset 1048576 lies behind the end"},
		{"offset 2^64-32", tensorAt(entry("a", 0, math.MaxUint64-31, 4)), 49, "lies behind the end of the file"},
		{"data ends behind the file", tensorAt(entry("a", 0, 480, 32)), 24, `tensor "a", at byte 24: its data of 128 bytes begins at byte 544, but the file has only`},
		{"data of 2^60 bytes", tensorAt(entry("a", 24, 0, 1<<60)), 24, "its data of 1152921504606846976 bytes"},
		{"one byte short", header(1, 0, entry("a", 0, 0, 8), zeros(7+31)), 24, "the file is truncated"},
		{"overlap", tensorAt(entry("a", 0, 64, 16), entry("b", 0, 32, 9)), 24, `tensor "a", at byte 24: its data at byte 160 overlaps that of tensor "b", which ends at byte 164`},
		{"same place", tensorAt(entry("a", 0, 0, 4), entry("b", 0, 0, 4)), 57, "overlaps"},
		{"table cut", header(1, 0, key("abcdefghij"), u32(1), u64(4), u32(0)), 58, "the offset needs 8 bytes"},
	}
}

func TestBadFiles(t *testing.T) {
	for _, c := range badFiles() {
		t.Run(c.name, func(t *testing.T) {
			_, err := read(c.bytes)
			var e *Error
			require.ErrorAs(t, err, &e)
			require.ErrorContains(t, err, c.want)
			require.Equal(t, c.offset, e.Offset, err.Error())
		})
	}
}

func TestVersion2AndEmptyFilesAreRead(t *testing.T) {
	f, err := read(join([]byte("GGUF"), u32(2), u64(0), u64(0)))
	require.NoError(t, err)
	require.EqualValues(t, 2, f.Version)
	require.Empty(t, f.Tensors)
}
