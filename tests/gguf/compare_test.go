// Package gguf compares the project's two readers of GGUF: the one in models/gguf and the native one. Each stands alone, so
// that they are two is no fault; that they answered differently would be one.
package gguf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/bindings"
	"github.com/tokenrouter/tokenrouter/internal/ggufcorpus"
	"github.com/tokenrouter/tokenrouter/models/gguf"
)

// verdict is what a reader says of a file as a container.
type verdict struct {
	refused bool
	parts   bool  // for a fault between the files of a model
	offset  int64 // of a fault in one file
}

func goVerdict(t *testing.T, path string) (verdict, error) {
	t.Helper()
	_, err := gguf.Open(path)
	var e *gguf.Error
	switch {
	case err == nil:
		return verdict{}, nil
	case errors.Is(err, gguf.ErrParts):
		return verdict{refused: true, parts: true}, err
	}
	require.ErrorAs(t, err, &e)
	return verdict{refused: true, offset: e.Offset}, err
}

var fault = regexp.MustCompile(`gguf: .*, at byte (\d+): `)

// nativeVerdict reads the native reader's verdict from its words, in which faults of the container differ from a model's.
func nativeVerdict(t *testing.T, d *bindings.Device, path string) (verdict, error) {
	t.Helper()
	m, err := d.LoadModel(path, bindings.ModelOptions{})
	if err == nil {
		require.NoError(t, m.Close())
		return verdict{}, nil
	}
	if strings.Contains(err.Error(), "gguf: parts: ") {
		return verdict{refused: true, parts: true}, err
	}
	require.NotErrorIs(t, err, bindings.ErrInternal)
	if found := fault.FindStringSubmatch(err.Error()); found != nil {
		offset, parseErr := strconv.ParseInt(found[1], 10, 64)
		require.NoError(t, parseErr)
		return verdict{refused: true, offset: offset}, err
	}
	return verdict{}, err // read, but no model
}

type pair struct {
	device           *bindings.Device
	refused, allowed int
}

func (p *pair) compare(t *testing.T, path, what string) {
	t.Helper()
	mine, mineErr := goVerdict(t, path)
	native, nativeErr := nativeVerdict(t, p.device, path)
	require.Equal(t, mine, native, "%s\nGo:     %v\nnative: %v", what, mineErr, nativeErr)
	if mine.refused {
		p.refused++
	} else {
		p.allowed++
	}
}

func open(t *testing.T) *pair {
	t.Helper()
	lib, err := bindings.Load("")
	require.NoError(t, err)
	d, err := lib.OpenDevice(bindings.DeviceOptions{Threads: 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return &pair{device: d}
}

func corpus(t *testing.T) []ggufcorpus.Case {
	t.Helper()
	cases, err := ggufcorpus.Load(ggufcorpus.Dir)
	require.NoError(t, err)
	return cases
}

func TestReadersAgreeOnTheCorpus(t *testing.T) {
	p := open(t)
	for _, c := range corpus(t) {
		p.compare(t, filepath.Join(ggufcorpus.Dir, c.Path), c.Path)
	}
	require.Greater(t, p.refused, 60)
	require.Greater(t, p.allowed, 30)
}

// Every file of the corpus with random changes, and those of a model in parts too.
func TestReadersAgreeOnChangedFiles(t *testing.T) {
	const changes = 20
	p := open(t)
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range corpus(t) {
		from := filepath.Dir(filepath.Join(ggufcorpus.Dir, c.Path))
		dir := t.TempDir()
		files := []string{filepath.Base(c.Path)}
		if filepath.Dir(c.Path) != "." {
			entries, err := os.ReadDir(from)
			require.NoError(t, err)
			files = nil
			for _, e := range entries {
				files = append(files, e.Name())
			}
		}
		whole := map[string][]byte{}
		for _, name := range files {
			b, err := os.ReadFile(filepath.Join(from, name))
			require.NoError(t, err)
			whole[name] = b
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
		}
		for i := range changes {
			name := files[random.IntN(len(files))]
			changed := change(random, whole[name])
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), changed, 0o600))
			p.compare(t, filepath.Join(dir, filepath.Base(c.Path)), fmt.Sprintf("%s, change %d, in %s:\n%q", c.Path, i, name, changed[:min(len(changed), 400)]))
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), whole[name], 0o600))
		}
	}
	t.Logf("%d files refused, %d read", p.refused, p.allowed)
	require.Greater(t, p.refused, 2000)
	require.Greater(t, p.allowed, 200)
}

// change gives b with one to three changes, mostly in its head.
func change(random *rand.Rand, b []byte) []byte {
	b = append([]byte(nil), b...)
	for range 1 + random.IntN(3) {
		if len(b) == 0 {
			return b
		}
		near := len(b)
		if random.IntN(4) > 0 {
			near = min(near, 300)
		}
		at := random.IntN(near)
		switch random.IntN(7) {
		case 0:
			b[at] = byte(random.Uint32())
		case 1:
			b[at] ^= 1 << random.IntN(8)
		case 2:
			b = b[:at]
		case 3:
			b = append(b[:at], append(make([]byte, 1+random.IntN(16)), b[at:]...)...)
		case 4:
			b = append(b[:at], b[min(at+1+random.IntN(16), len(b)):]...)
		case 5: // a number near a limit where numbers are
			if at+8 <= len(b) {
				limits := []uint64{0, 1, 4, 5, 9, 13, 64, 65, 1 << 16, 1<<16 - 1, 1 << 24, 1<<24 + 1, 1 << 31, 1 << 32, 1 << 62, 1 << 63, 1<<64 - 1, 1<<64 - 32}
				binary.LittleEndian.PutUint64(b[at:], limits[random.IntN(len(limits))])
			}
		default: // a run from elsewhere
			from := random.IntN(len(b))
			copy(b[at:], b[from:min(from+random.IntN(24), len(b))])
		}
	}
	return b
}

// Files at the edge of a limit, too long to be in the corpus.
func TestReadersAgreeAtTheLimits(t *testing.T) {
	p := open(t)
	path := filepath.Join(t.TempDir(), "edge.gguf")
	for _, c := range []struct {
		what         string
		key, text, n int
		read         bool
	}{
		{"longest key", 1<<16 - 1, 1, 1, true},
		{"key too long", 1 << 16, 1, 1, false},
		{"longest string", 1, 16 << 20, 1, true},
		{"string too long", 1, 16<<20 + 1, 1, false},
		{"strings of more than a read of the head", 1, 100_000, 40, true},
	} {
		w := gguf.NewWriter()
		for i := range c.n {
			w.Set(strings.Repeat("k", c.key)+strings.Repeat("x", i), strings.Repeat("t", c.text))
		}
		f, err := os.Create(path)
		require.NoError(t, err)
		_, err = w.WriteTo(f)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		p.compare(t, path, c.what)
		_, err = gguf.Open(path)
		require.Equal(t, c.read, err == nil, c.what)
	}
}
