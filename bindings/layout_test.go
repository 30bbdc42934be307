package bindings

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/bindings/internal/cheader"
)

// layout is where the C compiler puts what: offset and size of each field, and the size of the whole.
type layout struct {
	Size   uintptr
	Fields map[string][2]uintptr
}

// TestLayout compares every field of every struct with what the C compiler makes of the header.
func TestLayout(t *testing.T) {
	require.Empty(t, auditLayout(compiledLayouts(t, header(t))))
}

// TestLayoutAuditFindsDefects compiles headers that differ in one way that names and types do not show.
func TestLayoutAuditFindsDefects(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"field inserted", "float temperature;", "float dynamic; float temperature;", "tr_sampling.temperature is at 8"},
		{"field wider", "int32_t n_segments;", "int64_t n_segments;", "tr_batch.n_segments is at 8"},
		{"field narrower", "uint64_t seed;", "uint32_t seed;", "tr_sampling.seed is at 32 with 4 bytes"},
		{"field at the end", "int32_t max_rows;", "int32_t max_rows; int32_t more;", "tr_arena_params has 24 bytes"},
		{"packing", "typedef struct tr_device_params {", "typedef struct __attribute__((aligned(32))) tr_device_params {", "tr_device_params has 32 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := header(t)
			require.Contains(t, text, c.old, "the defect has no place to be planted")
			// Fields are taken from the true header, so that the planted one shifts the others unseen.
			problems := auditLayout(compiledLayouts(t, strings.Replace(text, c.old, c.new, 1)))
			require.Contains(t, strings.Join(problems, "\n"), c.want)
		})
	}
}

// compiledLayouts asks the C compiler for the layout, under text, of every struct and field of the true header.
func compiledLayouts(t *testing.T, text string) map[string]layout {
	h, err := cheader.Parse(header(t))
	require.NoError(t, err)
	var program strings.Builder
	program.WriteString("#include <stdio.h>\n#include \"tokenrouter.h\"\nint main(void) {\n")
	for _, s := range h.Structs {
		fmt.Fprintf(&program, "printf(\"{\\\"name\\\":\\\"%s\\\",\\\"size\\\":%%zu,\\\"fields\\\":{\", sizeof(%s));\n", s.Name, s.Name)
		for i, f := range s.Fields {
			separator := ""
			if i > 0 {
				separator = ","
			}
			fmt.Fprintf(&program, "printf(\"%s\\\"%s\\\":[%%zu,%%zu]\", offsetof(%s, %s), sizeof ((%s *)0)->%s);\n",
				separator, f.Name, s.Name, f.Name, s.Name, f.Name)
		}
		program.WriteString("printf(\"}}\\n\");\n")
	}
	program.WriteString("return 0; }\n")

	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tokenrouter.h"), []byte(text), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "layout.c"), []byte(program.String()), 0o600))
	binary := compileC(t, filepath.Join(dir, "layout.c"), filepath.Join(dir, "layout"))
	output, err := exec.Command(binary).Output()
	require.NoError(t, err)

	layouts := map[string]layout{}
	decoder := json.NewDecoder(strings.NewReader(string(output)))
	for decoder.More() {
		var s struct {
			Name   string
			Size   uintptr
			Fields map[string][2]uintptr
		}
		require.NoError(t, decoder.Decode(&s))
		layouts[s.Name] = layout{s.Size, s.Fields}
	}
	require.Len(t, layouts, len(h.Structs))
	return layouts
}

// compileC compiles a C file with the system's compiler, which building the library needs anyway.
func compileC(t testing.TB, source, output string, flags ...string) string {
	t.Helper()
	arguments := append([]string{"-std=c11", "-Wall", "-Werror", "-o", output, source}, flags...)
	message, err := exec.Command("cc", arguments...).CombinedOutput()
	require.NoError(t, err, "%s", message)
	return output
}

func auditLayout(layouts map[string]layout) (problems []string) {
	for name, c := range layouts {
		mirror := mirrors[name]
		if mirror.Size() != c.Size {
			problems = append(problems, fmt.Sprintf("%s has %d bytes, its mirror %d", name, c.Size, mirror.Size()))
		}
		for field, at := range c.Fields {
			got, ok := mirror.FieldByName(camel(field))
			if !ok || got.Offset != at[0] || got.Type.Size() != at[1] {
				problems = append(problems, fmt.Sprintf("%s.%s is at %d with %d bytes, in the mirror at %d", name, field, at[0], at[1], got.Offset))
			}
		}
	}
	return problems
}

// LoadModel passes an atomic.Int32 as an int32_t *.
func TestAtomicInt32IsOneWord(t *testing.T) {
	var a atomic.Int32
	require.Equal(t, uintptr(4), unsafe.Sizeof(a))
	a.Store(0x01020304)
	require.Equal(t, int32(0x01020304), *(*int32)(unsafe.Pointer(&a))) // safe: this is what the test finds out
}
