package gguf

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/internal/ggufcorpus"
)

func u32(x uint32) []byte { return binary.LittleEndian.AppendUint32(nil, x) }
func u64(x uint64) []byte { return binary.LittleEndian.AppendUint64(nil, x) }

// key is a string as it lies in a file.
func key(s string) []byte { return append(u64(uint64(len(s))), s...) }

// header is a version 3 file with these counts and what follows them.
func header(tensors, pairs uint64, rest ...[]byte) []byte {
	return bytes.Join([][]byte{[]byte("GGUF"), u32(3), u64(tensors), u64(pairs), bytes.Join(rest, nil)}, nil)
}

func corpus(t testing.TB) []ggufcorpus.Case {
	t.Helper()
	cases, err := ggufcorpus.Load(ggufcorpus.Dir)
	require.NoError(t, err)
	return cases
}

// The native reader's test does the same with the same files.
func TestCorpus(t *testing.T) {
	for _, c := range corpus(t) {
		t.Run(c.Name(), func(t *testing.T) {
			path := filepath.Join(ggufcorpus.Dir, c.Path)
			_, err := Open(path)
			switch c.Verdict {
			case ggufcorpus.Container:
				check := func(err error) {
					var e *Error
					require.ErrorAs(t, err, &e)
					require.Equal(t, c.Offset, e.Offset, err.Error())
					for _, word := range c.Words {
						require.ErrorContains(t, err, word)
					}
				}
				check(err)
				b, err := os.ReadFile(path)
				require.NoError(t, err)
				_, err = read(b)
				check(err)
			case ggufcorpus.Parts:
				require.ErrorIs(t, err, ErrParts)
				for _, word := range c.Words {
					require.ErrorContains(t, err, word)
				}
			default: // a model's faults are not the reader's to find
				require.NoError(t, err)
			}
		})
	}
}

func TestParts(t *testing.T) {
	dir := filepath.Join(ggufcorpus.Dir, "good-three-parts")
	path := filepath.Join(dir, "m-00001-of-00003.gguf")
	f, err := Open(path)
	require.NoError(t, err)
	require.Len(t, f.Parts, 3)
	require.Equal(t, path, f.Path)
	var size int64
	for i, p := range f.Parts {
		st, err := os.Stat(p.Path)
		require.NoError(t, err)
		require.Equal(t, st.Size(), p.Size)
		require.Equal(t, 1, p.Tensors)
		require.Equal(t, i, f.Tensors[i].Part)
		size += p.Size
	}
	require.Equal(t, size, f.Size)
	require.Equal(t, filepath.Join(dir, "m-00003-of-00003.gguf"), f.Parts[2].Path)
	c, ok := f.Tensor("c")
	require.True(t, ok)
	require.Equal(t, 2, c.Part)
	require.Equal(t, f.Parts[2].Size, c.Offset+c.Size)
	name, err := f.Text("general.name")
	require.NoError(t, err)
	require.Equal(t, "split", name)
}

// Opening a pipe does not wait for somebody to write into it.
func TestOtherKindsOfFiles(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.gguf")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	_, err := Open(pipe)
	require.ErrorContains(t, err, "expected a regular file")
}

// The head is read up to a limit, whatever the size of the file.
func TestLargestHead(t *testing.T) {
	c := newCursor(readerAt(func(p []byte, _ int64) (int, error) { return len(p), nil }), MaxHeader+100)
	c.off = MaxHeader - 8
	_, err := c.u64("a number")
	require.NoError(t, err)
	_, err = c.u32("another")
	require.ErrorContains(t, err, "another needs 4 bytes and would end behind byte 268435456, the largest head that is read")
}
