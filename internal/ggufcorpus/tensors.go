package ggufcorpus

import (
	"math"
	"strings"
)

func tensors() []made {
	name := strings.Repeat("n", 64)
	return []made{
		good("good-tensors", table(entry("a", 8, 0, 64), entry("b", 12, 96, 256, 1, 2, 1))),
		good("good-tensors-in-another-order", table(entry("a", 0, 64, 4), entry("b", 0, 0, 4), entry("c", 0, 32, 4))),
		good("good-tensor-name-of-64-bytes", table(entry(name, 0, 0, 4))),
		good("good-tensor-of-a-type-that-is-only-listed", table(entry("a", 17, 0, 256))),
		good("good-tensor-up-to-the-last-byte", header(1, 0, entry("a", 0, 0, 8), zeros(7+32))),

		bad("tensor-name-empty", 32, table(entry("", 0, 0, 4)), "tensor 0, at byte 32: the name is empty"),
		bad("tensor-name-of-65-bytes", 24, table(entry(name+"n", 0, 0, 4)), "tensor 0, at byte 24: the name is 65 bytes long, at most 64"),
		bad("tensor-name-length-2-to-the-64", 24, header(1, 0, u64(math.MaxUint64), zeros(64)), "the name is 18446744073709551615 bytes long"),
		bad("tensor-name-behind-the-end", 72, header(2, 0, entry("abcdefgh", 0, 0, 4), u64(40), zeros(21)), "tensor 1", "the name needs 40 bytes, but 21 are left"),
		bad("tensor-name-not-utf8", 32, table(entry("a\xc3", 0, 0, 4)), `the name "a\xc3" is not UTF-8`),
		bad("tensor-twice", 65, table(entry("a", 0, 0, 4), entry("a", 0, 32, 4)), `tensor "a", at byte 65: the name occurs twice`),
		bad("tensor-without-dimension", 33, table(entry("a", 0, 0)), `tensor "a", at byte 33: it has 0 dimensions, expected 1 to 4`),
		bad("tensor-of-five-dimensions", 33, table(entry("a", 0, 0, 1, 1, 1, 1, 1)), "it has 5 dimensions"),
		bad("tensor-of-2-to-the-32-dimensions", 33, header(1, 0, str("a"), u32(math.MaxUint32), zeros(100)), "it has 4294967295 dimensions"),
		bad("tensor-dimension-0", 45, table(entry("a", 0, 0, 4, 0)), "dimension 1 is 0"),
		bad("tensor-row-of-0", 37, table(entry("a", 12, 0, 0, 4)), `tensor "a", at byte 37: dimension 0 is 0`),
		bad("tensor-dimensions-wrap", 45, table(entry("a", 0, 0, 1<<42, 1<<42)), "dimension 1 is 4398046511104: the number of elements overflows"),
		bad("tensor-dimensions-wrap-to-0", 45, table(entry("a", 0, 0, 1<<32, 1<<32)), "the number of elements overflows"),
		bad("tensor-elements-above-63-bits", 37, table(entry("a", 0, 0, 1<<63)), "the number of elements overflows"),
		bad("tensor-bytes-above-63-bits", 45, table(entry("a", 28, 0, 1<<62)), "4611686018427387904 elements of type F64: the number of bytes overflows"),
		bad("tensor-dimensions-cut", 52, header(1, 0, str("abcdefgh"), u32(3), u64(1), zeros(5)), "a dimension needs 8 bytes, but 5"),
		bad("tensor-type-withdrawn", 45, table(entry("a", 4, 0, 32)), "unknown tensor type 4"),
		bad("tensor-type-withdrawn-31", 45, table(entry("a", 31, 0, 32)), "unknown tensor type 31"),
		bad("tensor-type-99", 45, table(entry("a", 99, 0, 32)), `tensor "a", at byte 45: unknown tensor type 99`),
		bad("tensor-type-2-to-the-32", 45, table(entry("a", math.MaxUint32, 0, 32)), "unknown tensor type 4294967295"),
		bad("tensor-row-of-33-in-Q8_0", 45, table(entry("a", 8, 0, 33)), "a row has 33 elements, expected a multiple of the 32 of a Q8_0 block"),
		bad("tensor-row-of-128-in-Q4_K", 53, table(entry("a", 12, 0, 128, 2)), "expected a multiple of the 256 of a Q4_K block"),
		bad("tensor-offset-8", 49, table(entry("a", 0, 8, 4)), "its offset 8 is no multiple of the alignment 32"),
		bad("tensor-offset-32-at-alignment-64", 82, header(1, 1, pair("general.alignment", tU32, u32(64)), entry("a", 0, 32, 4), zeros(256)), "its offset 32 is no multiple of the alignment 64"),
		bad("tensor-offset-behind-the-end", 49, table(entry("a", 0, 1<<20, 4)), "its offset 1048576 lies behind the end"),
		bad("tensor-offset-wraps", 49, table(entry("a", 0, math.MaxUint64-31, 4)), "its offset 18446744073709551584 lies behind the end of the file"),
		bad("tensor-data-ends-behind-the-file", 24, table(entry("a", 0, 480, 32)), `tensor "a", at byte 24: its data of 128 bytes begins at byte 544, but the file has only`),
		bad("tensor-data-of-2-to-the-60-bytes", 24, table(entry("a", 24, 0, 1<<60)), "its data of 1152921504606846976 bytes"),
		bad("tensor-data-one-byte-short", 24, header(1, 0, entry("a", 0, 0, 8), zeros(7+31)), "the file is truncated"),
		bad("tensor-data-missing", 24, header(1, 0, entry("a", 0, 0, 8)), "the file is truncated"),
		bad("tensors-overlap", 24, table(entry("a", 0, 64, 16), entry("b", 0, 32, 9)), `tensor "a", at byte 24: its data at byte 160 overlaps that of tensor "b", which ends at byte 164`),
		bad("tensors-in-the-same-place", 57, table(entry("a", 0, 0, 4), entry("b", 0, 0, 4)), `tensor "b"`, `overlaps that of tensor "a"`),
		bad("tensor-within-another", 57, table(entry("a", 0, 0, 64), entry("b", 0, 64, 4)), `tensor "b"`, `overlaps that of tensor "a"`),
		bad("tensor-table-cut", 58, header(1, 0, str("abcdefghij"), u32(1), u64(4), u32(0)), "the offset needs 8 bytes"),
	}
}
