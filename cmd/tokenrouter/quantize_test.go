package main

import (
	"context"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/internal/tinygguf"
	"github.com/tokenrouter/tokenrouter/models/gguf"
	"github.com/tokenrouter/tokenrouter/models/quantize"
	"github.com/tokenrouter/tokenrouter/sched"
)

// weightsOf reads a tensor as floats.
func weightsOf(t *testing.T, c *sched.NativeConverter, path string, tensor gguf.Tensor) []float64 {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	raw := make([]byte, tensor.Size)
	_, err = file.ReadAt(raw, tensor.Offset)
	require.NoError(t, err)
	floats := make([]byte, 4*tensor.Elements)
	require.NoError(t, c.Convert(tensor.Type, raw, gguf.TensorF32, floats))
	weights := make([]float64, tensor.Elements)
	for i := range weights {
		weights[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(floats[4*i:])))
	}
	return weights
}

// errorOf is the root mean square difference over the root mean square of the first.
func errorOf(a, b []float64) float64 {
	var difference, power float64
	for i := range a {
		difference += (a[i] - b[i]) * (a[i] - b[i])
		power += a[i] * a[i]
	}
	return math.Sqrt(difference / power)
}

func TestQuantize(t *testing.T) {
	source := tinygguf.Temp(t, tinygguf.Options{Embd: 256, FFN: 512, Vocab: 301})
	in, err := gguf.Open(source)
	require.NoError(t, err)
	c, err := sched.OpenNativeConverter("")
	require.NoError(t, err)
	device, err := sched.OpenNativeDevice(sched.NativeOptions{Threads: 1})
	require.NoError(t, err)
	defer func() { require.NoError(t, device.Close()) }()

	// Errors as of rounding normal weights: a step over the square root of 12, 2.3 or 4.1 deviations to a block's range.
	for _, q := range []struct {
		name     string
		fileType uint32 // numbers of the GGUF specification
		largest  float64
	}{
		{"F32", 0, 0}, {"F16", 1, 0.0005}, {"BF16", 32, 0.004}, {"Q8_0", 7, 0.006}, {"Q4_0", 2, 0.09}, {"Q4_1", 3, 0.084},
		{"q5_0", 8, 0.045}, {"Q5_1", 9, 0.041}, {"Q4_K", 14, 0.084}, {"Q5_K", 16, 0.041}, {"Q6_K", 18, 0.021},
	} {
		t.Run(q.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "out.gguf")
			said, err := call(newQuantizeCommand(), "", source, path, q.name)
			require.NoError(t, err)
			require.Contains(t, said, "tensors in "+strings.ToUpper(q.name))
			out, err := gguf.Open(path)
			require.NoError(t, err)
			sameMetadata(t, in, out, q.fileType)
			require.Len(t, out.Tensors, len(in.Tensors))
			for i, tensor := range out.Tensors {
				require.Equal(t, in.Tensors[i].Name, tensor.Name)
				require.Equal(t, in.Tensors[i].Shape, tensor.Shape)
				before, after := weightsOf(t, c, source, in.Tensors[i]), weightsOf(t, c, path, tensor)
				if len(tensor.Shape) == 1 {
					require.Equal(t, gguf.TensorF32, tensor.Type, tensor.Name)
					require.Equal(t, before, after, tensor.Name)
					continue
				}
				require.Equal(t, strings.ToUpper(q.name), tensor.Type.String(), tensor.Name)
				require.LessOrEqual(t, errorOf(before, after), q.largest, tensor.Name)
			}
			model, err := device.LoadModel(path, nil)
			require.NoError(t, err)
			require.NoError(t, model.Close())
			left, err := os.ReadDir(filepath.Dir(path))
			require.NoError(t, err)
			require.Len(t, left, 1, "nothing else is left behind")
		})
	}
}

// sameMetadata checks that out has all keys of in, and what the file is now.
func sameMetadata(t *testing.T, in, out *gguf.File, fileType uint32) {
	t.Helper()
	for _, key := range in.Keys() {
		want, _ := in.Get(key)
		got, ok := out.Get(key)
		require.True(t, ok, key)
		require.Equal(t, want.Any(), got.Any(), key)
	}
	n, err := out.Uint("general.file_type")
	require.NoError(t, err)
	require.EqualValues(t, fileType, n)
	// Besides the old keys: the file's type, and for block formats the version of their layouts.
	added := len(out.Keys()) - len(in.Keys())
	require.Equal(t, 1+map[bool]int{true: 1}[out.Has("general.quantization_version")], added)
}

// Rows of 64 are no multiple of 256: formats with blocks of 32 take the place of k-quants.
func TestQuantizeShortRows(t *testing.T) {
	source := tinygguf.Temp(t, tinygguf.Options{})
	path := filepath.Join(t.TempDir(), "out.gguf")
	said, err := call(newQuantizeCommand(), "", source, path, "Q4_K")
	require.NoError(t, err)
	require.Contains(t, said, "in Q5_0, as the rows of 16 are no multiple of a block of Q4_K") // 7 matrices in each of 2 layers, 2 more
	out, err := gguf.Open(path)
	require.NoError(t, err)
	tensor, ok := out.Tensor("blk.0.attn_q.weight")
	require.True(t, ok)
	require.Equal(t, gguf.TensorQ50, tensor.Type)
}

func TestQuantizeRefuses(t *testing.T) {
	source := tinygguf.Temp(t, tinygguf.Options{})
	dir := t.TempDir()
	there := filepath.Join(dir, "there.gguf")
	require.NoError(t, os.WriteFile(there, []byte("kept"), 0o600))
	damaged := damagedModel(t)
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"type", []string{source, filepath.Join(dir, "out.gguf"), "Q4_K_M"}, `type "Q4_K_M" cannot be written, expected one of BF16, F16, F32, Q4_0`},
		{"type that is only read", []string{source, filepath.Join(dir, "out.gguf"), "IQ4_XS"}, `type "IQ4_XS" cannot be written`},
		{"no such file", []string{filepath.Join(dir, "none.gguf"), filepath.Join(dir, "out.gguf"), "Q8_0"}, "no such file"},
		{"there already", []string{source, there, "Q8_0"}, "is there already; use --force"},
		{"onto itself", []string{"--force", source, source, "Q8_0"}, "is the file to be read"},
		{"no such directory", []string{source, filepath.Join(dir, "none", "out.gguf"), "Q8_0"}, "no such file or directory"},
		{"damaged weights", []string{"--force", damaged, there, "Q8_0"}, "weights are not finite"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := call(newQuantizeCommand(), "", c.args...)
			require.ErrorContains(t, err, c.want)
			text, err := os.ReadFile(there)
			require.NoError(t, err)
			require.Equal(t, "kept", string(text))
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Len(t, left, 1, "nothing is left behind")
		})
	}
	_, err := call(newQuantizeCommand(), "", "--force", source, there, "Q8_0")
	require.NoError(t, err)
	_, err = gguf.Open(there)
	require.NoError(t, err)
}

// damagedModel is a file with a weight that is not a number.
func damagedModel(t *testing.T) string {
	t.Helper()
	path := tinygguf.Temp(t, tinygguf.Options{})
	f, err := gguf.Open(path)
	require.NoError(t, err)
	tensor, ok := f.Tensor("blk.1.ffn_up.weight")
	require.True(t, ok)
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer file.Close()
	_, err = file.WriteAt([]byte{0, 0, 0xc0, 0x7f}, tensor.Offset+400)
	require.NoError(t, err)
	return path
}

// A model in parts becomes one file.
func TestQuantizeParts(t *testing.T) {
	source := tinygguf.Temp(t, tinygguf.Options{})
	f, err := gguf.Open(source)
	require.NoError(t, err)
	dir := t.TempDir()
	half := len(f.Tensors) / 2
	writePart(t, f, filepath.Join(dir, "m-00001-of-00002.gguf"), 0, f.Tensors[:half])
	writePart(t, f, filepath.Join(dir, "m-00002-of-00002.gguf"), 1, f.Tensors[half:])
	path, whole := filepath.Join(dir, "out.gguf"), filepath.Join(dir, "whole.gguf")
	for from, to := range map[string]string{filepath.Join(dir, "m-00001-of-00002.gguf"): path, source: whole} {
		_, err = call(newQuantizeCommand(), "", from, to, "Q8_0")
		require.NoError(t, err)
	}
	a, err := os.ReadFile(path)
	require.NoError(t, err)
	b, err := os.ReadFile(whole)
	require.NoError(t, err)
	require.Equal(t, b, a, "the same file as from the whole model")
}

func writePart(t *testing.T, f *gguf.File, path string, number uint16, tensors []gguf.Tensor) {
	t.Helper()
	w := gguf.NewWriter()
	for _, key := range f.Keys() {
		if v, _ := f.Get(key); number == 0 {
			w.Set(key, v.Any())
		}
	}
	w.Set("split.no", number).Set("split.count", uint16(2)).Set("split.tensors.count", int32(len(f.Tensors)))
	data, err := os.ReadFile(f.Path)
	require.NoError(t, err)
	for _, tensor := range tensors {
		w.Tensor(tensor.Name, tensor.Type, tensor.Shape, data[tensor.Offset:tensor.Offset+tensor.Size])
	}
	out, err := os.Create(path)
	require.NoError(t, err)
	defer out.Close()
	_, err = w.WriteTo(out)
	require.NoError(t, err)
}

// The types that files can be made in are those that the library writes.
func TestQuantizeTypes(t *testing.T) {
	c, err := sched.OpenNativeConverter("")
	require.NoError(t, err)
	for number := range gguf.TensorType(64) {
		elems, bytes, ok := number.Block()
		if !ok {
			continue
		}
		src := make([]byte, 4*elems)
		err := c.Convert(gguf.TensorF32, src, number, make([]byte, bytes))
		_, named := quantize.ParseType(number.String())
		require.Equal(t, named == nil, err == nil, "%s: %v, %v", number, named, err)
	}
}

// Nothing is left of what was interrupted, and only files are replaced.
func TestQuantizeLeavesNothingBehind(t *testing.T) {
	in, err := gguf.Open(tinygguf.Temp(t, tinygguf.Options{}))
	require.NoError(t, err)
	c, err := sched.OpenNativeConverter("")
	require.NoError(t, err)
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = quantize.File(ctx, filepath.Join(dir, "out.gguf"), in, gguf.TensorF16, c, nil)
	require.ErrorIs(t, err, context.Canceled)

	target := filepath.Join(t.TempDir(), "target")
	require.NoError(t, os.WriteFile(target, []byte("kept"), 0o600))
	link := filepath.Join(t.TempDir(), "link.gguf")
	require.NoError(t, os.Symlink(target, link))
	for _, path := range []string{dir, link} {
		_, err = quantize.File(t.Context(), path, in, gguf.TensorF16, c, nil)
		require.ErrorContains(t, err, "is no regular file")
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}
