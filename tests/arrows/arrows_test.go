// Package arrows holds the structure of the source tree to docs/design.md: who may import whom, and how long files are.
package arrows

import (
	"bytes"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	root   = "../.."
	module = "github.com/tokenrouter/tokenrouter/"
)

// allowed says which of the module's parts (first path elements) the files of a part may import; each may import itself.
// Tests of a part are held to the same, but for testSupport.
var allowed = map[string][]string{
	"router":   {},
	"models":   {},
	"bindings": {},
	"internal": {},
	"sched":    {"router", "models"},
	"server":   {"sched", "router", "models"},
	"cmd":      {"server", "sched", "router", "models"},
}

// nativeRunner is the only place in sched that may import bindings.
const nativeRunner = "sched/native"

// testSupport holds what only tests use, such as the writer of tiny models; the tests of every part may import it.
const testSupport = "internal"

// leaves are small packages that import nothing of this module, for every part to use.
var leaves = []string{"internal/suggest"}

type file struct {
	path    string // from the root
	lines   int
	imports []string // of this module, without its path
}

func (f file) part() string { return strings.Split(f.path, "/")[0] }
func (f file) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

// sources reads every file of the tree with one of the suffixes, leaving out what is built or downloaded.
func sources(t *testing.T, suffixes ...string) []file {
	t.Helper()
	var files []file
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			switch d.Name() {
			case ".git", "build", "bin", "dist", "testdata", ".venv":
				return filepath.SkipDir
			}
			return nil
		}
		if !slices.Contains(suffixes, filepath.Ext(path)) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		f := file{path: filepath.ToSlash(relative), lines: bytes.Count(text, []byte("\n"))}
		if filepath.Ext(path) == ".go" {
			parsed, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ImportsOnly)
			if err != nil {
				return err
			}
			for _, spec := range parsed.Imports {
				name, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					return err
				}
				if own, ok := strings.CutPrefix(name, module); ok {
					f.imports = append(f.imports, own)
				}
			}
		}
		files = append(files, f)
		return nil
	})
	require.NoError(t, err)
	return files
}

// mayImport reports whether the file may import the package `to` of this module.
func mayImport(from file, to string) bool {
	part, target := from.part(), strings.Split(to, "/")[0]
	switch {
	case part == target || slices.Contains(leaves, to):
		return true
	case target == "tests" || target == "bench":
		return part == "tests" || part == "bench"
	case target == "bindings" && part == "sched":
		// The runner, or the tests that set it up.
		return strings.HasPrefix(from.path, nativeRunner) || from.isTest()
	}
	parts, held := allowed[part]
	return !held || slices.Contains(parts, target) || from.isTest() && target == testSupport
}

func TestImportsFollowTheArrows(t *testing.T) {
	files := sources(t, ".go")
	require.Greater(t, len(files), 50, "the walk found too few files to mean anything")
	for _, f := range files {
		for _, to := range f.imports {
			if !mayImport(f, to) {
				t.Errorf("%s imports %s; docs/design.md allows %s to import %v", f.path, to, f.part(), allowed[f.part()])
			}
		}
	}
}

func TestTheArrowsAreHeld(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     bool
	}{
		{"router/rstitch.go", "sched", false},
		{"router/rstitch.go", "models", false},
		{"models/model.go", "router", false},
		{"sched/loop.go", "router", true},
		{"sched/loop.go", "bindings", false},
		{"sched/native/runner.go", "bindings", true},
		{"sched/loop.go", "server", false},
		{"server/chat.go", "sched", true},
		{"server/chat.go", "bindings", false},
		{"cmd/tokenrouter/main.go", "server", true},
		{"cmd/tokenrouter/main.go", "bindings", false},
		{"server/chat.go", "bench/report", false},
		{"server/chat.go", "internal/tinygguf", false},
		{"server/chat_test.go", "internal/tinygguf", true},
		{"models/store/store.go", "internal/suggest", true},
		{"tests/golden/golden_test.go", "bindings", true},
	} {
		require.Equal(t, c.want, mayImport(file{path: c.from}, c.to), "%s -> %s", c.from, c.to)
	}
}

func TestFilesStaySmall(t *testing.T) {
	files := sources(t, ".go", ".cpp", ".h", ".inc", ".py")
	lines := make([]int, 0, len(files))
	for _, f := range files {
		if f.lines > 600 {
			t.Errorf("%s has %d lines; split it, the limit is 600", f.path, f.lines)
		}
		lines = append(lines, f.lines)
	}
	slices.Sort(lines)
	require.Less(t, lines[len(lines)/2], 150, "median length of a file")
}
