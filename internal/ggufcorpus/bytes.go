package ggufcorpus

import (
	"bytes"
	"encoding/binary"
)

// Value types, as numbered in the format.
const (
	tU8, tI8, tU16, tI16, tU32, tI32, tF32, tBool, tString, tArray, tU64, tI64, tF64 = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
)

func u16(x uint16) []byte { return binary.LittleEndian.AppendUint16(nil, x) }
func u32(x uint32) []byte { return binary.LittleEndian.AppendUint32(nil, x) }
func u64(x uint64) []byte { return binary.LittleEndian.AppendUint64(nil, x) }

func num(x any) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, x)
	if err != nil {
		panic(err) // only numbers and slices of them are put
	}
	return b
}

func zeros(n int) []byte { return make([]byte, n) }

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// str is a string as it lies in a file.
func str(s string) []byte { return append(u64(uint64(len(s))), s...) }

// pair is a metadata pair.
func pair(key string, typ uint32, value ...[]byte) []byte {
	return join(str(key), u32(typ), join(value...))
}

// array is the value of an array.
func array(elem uint32, n uint64, elements ...[]byte) []byte {
	return join(u32(elem), u64(n), join(elements...))
}

func stringArray(texts []string) []byte {
	b := array(tString, uint64(len(texts)))
	for _, s := range texts {
		b = append(b, str(s)...)
	}
	return b
}

// header is a version 3 file with these counts and what follows them.
func header(tensors, pairs uint64, rest ...[]byte) []byte {
	return join([]byte("GGUF"), u32(3), u64(tensors), u64(pairs), join(rest...))
}

// entry is an entry of the tensor table.
func entry(name string, typ uint32, offset uint64, dims ...uint64) []byte {
	b := join(str(name), u32(uint32(len(dims))))
	for _, d := range dims {
		b = append(b, u64(d)...)
	}
	return join(b, u32(typ), u64(offset))
}

// table is a file of these entries with room for data behind them.
func table(entries ...[]byte) []byte {
	return header(uint64(len(entries)), 0, join(entries...), zeros(512))
}

// tensor is a tensor with its data, for file.
type tensor struct {
	name string
	typ  uint32
	dims []uint64
	data []byte
}

// file is a right file of these pairs and tensors.
func file(pairs [][]byte, tensors []tensor) []byte {
	const alignment = 32
	pad := func(n int) int { return (n + alignment - 1) / alignment * alignment }
	b := header(uint64(len(tensors)), uint64(len(pairs)), join(pairs...))
	at := 0
	for _, t := range tensors {
		b = append(b, entry(t.name, t.typ, uint64(at), t.dims...)...)
		at += pad(len(t.data))
	}
	for _, t := range tensors {
		b = append(b, zeros(pad(len(b))-len(b))...)
		b = append(b, t.data...)
	}
	return b
}
