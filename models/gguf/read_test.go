package gguf

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// sample is a small file with every value type and three tensors.
func sample(t testing.TB) []byte {
	t.Helper()
	w := NewWriter()
	w.Set("general.architecture", "qwen2").Set("general.alignment", uint32(64))
	w.Set("a.u8", uint8(200)).Set("a.i8", int8(-5)).Set("a.u16", uint16(60000)).Set("a.i16", int16(-300))
	w.Set("a.u32", uint32(4e9)).Set("a.i32", int32(-70000)).Set("a.f32", float32(0.5)).Set("a.bool", true)
	w.Set("a.u64", uint64(math.MaxUint64)).Set("a.i64", int64(-1<<40)).Set("a.f64", 1e-300)
	w.Set("b.u8", []uint8{1, 2}).Set("b.i8", []int8{-1}).Set("b.u16", []uint16{9}).Set("b.i16", []int16{-9, 9})
	w.Set("b.u32", []uint32{7}).Set("b.i32", []int32{-7}).Set("b.f32", []float32{1.5, -2}).Set("b.bool", []bool{true, false})
	w.Set("b.str", []string{"", "Ġhello", "日本"}).Set("b.u64", []uint64{1 << 63}).Set("b.i64", []int64{-1 << 62})
	w.Set("b.f64", []float64{2.25}).Set("b.none", []string{})
	w.Tensor("x", TensorF32, []uint64{3, 2}, make([]byte, 24))
	w.Tensor("y", TensorType(8), []uint64{64}, make([]byte, 68))
	w.Tensor("z", TensorType(12), []uint64{256, 1, 2, 1}, make([]byte, 288))
	var b bytes.Buffer
	n, err := w.WriteTo(&b)
	require.NoError(t, err)
	require.EqualValues(t, b.Len(), n)
	return b.Bytes()
}

func read(b []byte) (*File, error) { return Read(bytes.NewReader(b), int64(len(b))) }

func TestReadGivesBackWhatWasWritten(t *testing.T) {
	b := sample(t)
	f, err := read(b)
	require.NoError(t, err)
	require.EqualValues(t, 3, f.Version)
	require.EqualValues(t, 64, f.Alignment)
	require.Len(t, f.Keys(), 26)
	require.Equal(t, "general.architecture", f.Keys()[0])

	for key, want := range map[string]any{
		"general.architecture": "qwen2", "a.u8": uint8(200), "a.i8": int8(-5), "a.u16": uint16(60000), "a.i16": int16(-300),
		"a.u32": uint32(4e9), "a.i32": int32(-70000), "a.f32": float32(0.5), "a.bool": true, "a.u64": uint64(math.MaxUint64),
		"a.i64": int64(-1 << 40), "a.f64": 1e-300, "b.u8": []uint8{1, 2}, "b.i8": []int8{-1}, "b.u16": []uint16{9},
		"b.i16": []int16{-9, 9}, "b.u32": []uint32{7}, "b.i32": []int32{-7}, "b.f32": []float32{1.5, -2},
		"b.bool": []bool{true, false}, "b.str": []string{"", "Ġhello", "日本"}, "b.u64": []uint64{1 << 63},
		"b.i64": []int64{-1 << 62}, "b.f64": []float64{2.25}, "b.none": []string{},
	} {
		v, ok := f.Get(key)
		require.True(t, ok, key)
		require.Equal(t, want, v.Any(), key)
	}

	y, ok := f.Tensor("y")
	require.True(t, ok)
	require.Equal(t, "Q8_0", y.Type.String())
	require.EqualValues(t, 68, y.Size) // two blocks of 34 bytes
	require.Equal(t, f.DataOffset+64, y.Offset)
	z, _ := f.Tensor("z")
	require.EqualValues(t, 2, z.Rows())
	require.EqualValues(t, 288, z.Size) // two Q4_K blocks of 144 bytes
	_, ok = f.Tensor("nope")
	require.False(t, ok)
}

func TestTruncationAtEveryByteIsAnError(t *testing.T) {
	b := sample(t)
	for n := range b {
		_, err := read(b[:n])
		var e *Error
		require.ErrorAs(t, err, &e, "%d bytes", n)
		require.LessOrEqual(t, e.Offset, int64(n))
		require.NotEmpty(t, e.Where)
	}
}

// A file that shrinks while it is read, or a size that was wrong.
func TestShortReadIsAnError(t *testing.T) {
	b := sample(t)
	_, err := Read(bytes.NewReader(b[:100]), int64(len(b)))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	broken := errors.New("disk gone")
	_, err = Read(readerAt(func([]byte, int64) (int, error) { return 0, broken }), 1000)
	require.ErrorIs(t, err, broken)
	_, err = Read(bytes.NewReader(b), -1)
	require.ErrorContains(t, err, "negative")
}

type readerAt func([]byte, int64) (int, error)

func (f readerAt) ReadAt(p []byte, off int64) (int, error) { return f(p, off) }

// A header longer than the read buffer, with strings across its edges.
func TestLongHeader(t *testing.T) {
	texts := make([]string, 30000)
	for i := range texts {
		texts[i] = string(bytes.Repeat([]byte{byte('a' + i%26)}, i%40))
	}
	long := string(bytes.Repeat([]byte("x"), 3*bufferSize+17))
	nums := make([]uint32, 50000)
	for i := range nums {
		nums[i] = uint32(i * i)
	}
	var b bytes.Buffer
	_, err := NewWriter().Set("texts", texts).Set("long", long).Set("nums", nums).Set("array", []string{long, "y", long}).WriteTo(&b)
	require.NoError(t, err)
	f, err := read(b.Bytes())
	require.NoError(t, err)
	got, err := f.Texts("texts")
	require.NoError(t, err)
	require.Equal(t, texts, got)
	s, err := f.Text("long")
	require.NoError(t, err)
	require.Equal(t, long, s)
	v, _ := f.Get("nums")
	require.Equal(t, nums, v.Any())
	got, err = f.Texts("array")
	require.NoError(t, err)
	require.Equal(t, []string{long, "y", long}, got)
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.gguf")
	require.NoError(t, os.WriteFile(path, sample(t), 0o600))
	f, err := Open(path)
	require.NoError(t, err)
	require.Equal(t, path, f.Path)

	_, err = Open(filepath.Join(dir, "none.gguf"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = Open(dir)
	require.ErrorContains(t, err, "is a directory, expected a regular file")
	require.NoError(t, os.WriteFile(path, []byte("<html>not found</html>"), 0o600))
	_, err = Open(path)
	require.ErrorIs(t, err, ErrNotGGUF)
	require.ErrorContains(t, err, `it begins with the bytes "<htm", expected "GGUF"`)
}

func TestGetters(t *testing.T) {
	f, err := read(sample(t))
	require.NoError(t, err)
	for _, key := range []string{"a.u8", "a.u16", "a.u32"} {
		n, err := f.Uint(key)
		require.NoError(t, err)
		require.Positive(t, n)
	}
	for key, want := range map[string]int64{"a.i8": -5, "a.i16": -300, "a.i32": -70000, "a.i64": -1 << 40, "a.u8": 200} {
		n, err := f.Int(key)
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
	for key, want := range map[string][]int64{"b.u8": {1, 2}, "b.i8": {-1}, "b.u16": {9}, "b.i16": {-9, 9}, "b.u32": {7},
		"b.i32": {-7}, "b.i64": {-1 << 62}} {
		n, err := f.Ints(key)
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
	x, err := f.Float("a.f32")
	require.NoError(t, err)
	require.Equal(t, 0.5, x)
	xs, err := f.Floats("b.f32")
	require.NoError(t, err)
	require.Equal(t, []float64{1.5, -2}, xs)
	on, err := f.Truth("a.bool")
	require.NoError(t, err)
	require.True(t, on)

	for name, get := range map[string]func() error{
		`key "a.i8": at byte 135: is -5, expected a number that is not negative`: func() error { _, err := f.Uint("a.i8"); return err },
		"is 18446744073709551615, expected at most 9223372036854775807":          func() error { _, err := f.Int("a.u64"); return err },
		"element 0 is 9223372036854775808, expected at most":                     func() error { _, err := f.Ints("b.u64"); return err },
		"is of type bool, expected string":                                       func() error { _, err := f.Text("a.bool"); return err },
		"is of type string, expected bool":                                       func() error { _, err := f.Truth("general.architecture"); return err },
		"is of type array of uint8, expected an integer":                         func() error { _, err := f.Int("b.u8"); return err },
		"is of type uint8, expected array of string":                             func() error { _, err := f.Texts("a.u8"); return err },
		"is of type array of string, expected array of integers":                 func() error { _, err := f.Ints("b.str"); return err },
		"is of type uint32, expected a floating-point number":                    func() error { _, err := f.Float("a.u32"); return err },
		"is of type array of int8, expected array of floating-point numbers":     func() error { _, err := f.Floats("b.i8"); return err },
		`key "missing": the file has no such key`:                                func() error { _, err := f.Text("missing"); return err },
	} {
		err := get()
		require.ErrorContains(t, err, name)
		var k *KeyError
		require.ErrorAs(t, err, &k)
	}

	n, err := Default(uint64(7))(f.Uint("missing"))
	require.NoError(t, err)
	require.EqualValues(t, 7, n)
	_, err = Default(uint64(7))(f.Uint("a.bool"))
	require.Error(t, err)
}

// A few bytes that claim much must not take memory for it.
func TestClaimsTakeNoMemory(t *testing.T) {
	var before, after runtime.MemStats
	for _, b := range [][]byte{
		header(1<<61, 0), header(0, 1<<61), header(0, 1, key("a"), u32(9), u32(8), u64(1<<60)),
		header(0, 1, key("a"), u32(9), u32(0), u64(1<<40)), header(0, 1, key("a"), u32(8), u64(1<<34)),
		header(0, 1, u64(1<<62)),
	} {
		runtime.ReadMemStats(&before)
		_, err := read(b)
		runtime.ReadMemStats(&after)
		require.Error(t, err)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(256<<10)) // the read buffer and the error
	}
}
