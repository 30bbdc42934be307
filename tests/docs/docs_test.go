// Package docs_test holds what the documentation says to what there is: links, messages, commands, quoted code.
package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../.."

// walk calls f with every file of a suffix below a directory of the repository, and its text.
func walk(t *testing.T, below, suffix string, f func(path, text string)) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(filepath.Join(root, below), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			switch d.Name() {
			case ".git", "build", "bin", "dist", "testdata", "node_modules", ".venv":
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, suffix) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil {
			f(path, string(text))
		}
		return err
	}))
}

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", name))
	require.NoError(t, err)
	return string(text)
}

var (
	fence   = regexp.MustCompile("(?ms)^```.*?^```$")
	code    = regexp.MustCompile("`[^`\n]+`")
	link    = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
	notWord = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// anchors are those of a page's headings, as the usual renderers make them.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	for _, h := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		title := link.ReplaceAllStringFunc(h[1], func(s string) string { return s[1:strings.Index(s, "]")] })
		found[strings.ReplaceAll(notWord.ReplaceAllString(strings.ToLower(title), ""), " ", "-")] = true
	}
	return found
}

func TestAnchors(t *testing.T) {
	got := anchors("# A title\n\n## `no file`: what, now?\n```\n# not one\n```\n### See [this](x.md) page_1\n")
	require.Equal(t, map[string]bool{"a-title": true, "no-file-what-now": true, "see-this-page_1": true}, got)
}

// Links within the repository lead to files and headings that there are.
func TestLinks(t *testing.T) {
	n := 0
	walk(t, ".", ".md", func(path, text string) {
		text = code.ReplaceAllString(fence.ReplaceAllString(text, ""), "")
		for _, l := range link.FindAllStringSubmatch(text, -1) {
			target, err := url.Parse(l[1])
			require.NoError(t, err, "%s: %s", path, l[1])
			if target.Scheme != "" {
				continue
			}
			n++
			to := path
			if target.Path != "" {
				to = filepath.Join(filepath.Dir(path), target.Path)
				if _, err := os.Stat(to); err != nil {
					t.Errorf("%s: the link %s leads nowhere", path, l[1])
					continue
				}
			}
			if target.Fragment == "" {
				continue
			}
			there, err := os.ReadFile(to)
			require.NoError(t, err)
			if !anchors(string(there))[target.Fragment] {
				t.Errorf("%s: %s has no heading #%s", path, to, target.Fragment)
			}
		}
	})
	require.Greater(t, n, 50, "too few links were found to mean anything")
}

// Every page of docs can be reached from the list of pages.
func TestEveryPageIsListed(t *testing.T) {
	list := page(t, "README.md")
	walk(t, "docs", ".md", func(path, _ string) {
		if name := filepath.Base(path); name != "README.md" {
			require.Contains(t, list, "]("+name+")")
		}
	})
}

// verb is a directive of Go's fmt or of C's printf.
var verb = regexp.MustCompile(`%[-+ #0]*[0-9]*(\.[0-9]+)?(ll|l|z)?[a-zA-Z]`)

// open is a message with … for what differs; %q brings its quotes along.
func open(literal string) string {
	return verb.ReplaceAllStringFunc(literal, func(v string) string {
		if strings.HasSuffix(v, "q") {
			return `"…"`
		}
		return "…"
	})
}

func TestOpen(t *testing.T) {
	require.Equal(t, `model "…" has … of … bytes, …`, open("model %.100q has %d of %5.1f bytes, %zu"))
}

// literals are the strings in the code: those of Go, added up where they are, and of C++.
func literals(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, part := range []string{"bindings", "cmd", "internal", "models", "router", "sched", "server"} {
		walk(t, part, ".go", func(path, text string) {
			if strings.HasSuffix(path, "_test.go") {
				return
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, text, 0)
			require.NoError(t, err)
			ast.Inspect(file, func(n ast.Node) bool {
				e, ok := n.(ast.Expr)
				if !ok {
					return true
				}
				s, ok := value(e)
				if ok {
					all = append(all, open(s))
				}
				return !ok
			})
		})
	}
	quoted := regexp.MustCompile(`"(?:[^"\\\n]|\\.)*"(?:\s+"(?:[^"\\\n]|\\.)*")*`)
	between := regexp.MustCompile(`"\s+"`)
	walk(t, "native/src", ".cpp", func(_, text string) {
		for _, s := range quoted.FindAllString(text, -1) {
			all = append(all, open(between.ReplaceAllString(s, "")))
		}
	})
	require.Greater(t, len(all), 2000)
	return all
}

// value is that of a string, or of several that are added up.
func value(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		s, err := strconv.Unquote(e.Value)
		return s, err == nil
	case *ast.BinaryExpr:
		x, okX := value(e.X)
		y, okY := value(e.Y)
		return x + y, e.Op == token.ADD && okX && okY
	}
	return "", false
}

// Every message that the page on troubleshooting quotes is one of the program's.
func TestMessages(t *testing.T) {
	all := literals(t)
	messages := regexp.MustCompile("(?m)^### `(.+)`$").FindAllStringSubmatch(page(t, "troubleshooting.md"), -1)
	require.Greater(t, len(messages), 40)
	for _, m := range messages {
		found := false
		for _, literal := range all {
			found = found || strings.Contains(literal, m[1])
		}
		if !found {
			t.Errorf("no message of the program has in it: %s", m[1])
		}
	}
}

var (
	// A command line in a block or in running text, with or without the directory of the program.
	command = regexp.MustCompile("(?:^|[`\\s(;|])(?:bin/)?tokenrouter +([a-z]+)([^`\n|]*)")
	flag    = regexp.MustCompile(`(?:^|\s)--([a-z][a-z-]+)`)
	use     = regexp.MustCompile(`(?:Use: +|Command\()"([a-z]+)`)
)

// Commands and flags in the documentation are those of the program.
func TestCommands(t *testing.T) {
	var source strings.Builder
	walk(t, "cmd/tokenrouter", ".go", func(_, text string) { source.WriteString(text) })
	commands := map[string]bool{"completion": true, "help": true} // these two are cobra's own
	for _, u := range use.FindAllStringSubmatch(source.String(), -1) {
		commands[u[1]] = true
	}
	n := 0
	check := func(path, text string) {
		for _, c := range command.FindAllStringSubmatch(text, -1) {
			if !commands[c[1]] {
				t.Errorf("%s: there is no command tokenrouter %s", path, c[1])
			}
			for _, f := range flag.FindAllStringSubmatch(c[2], -1) {
				n++
				if f[1] != "help" && !strings.Contains(source.String(), strconv.Quote(f[1])) {
					t.Errorf("%s: tokenrouter %s has no flag --%s", path, c[1], f[1])
				}
			}
		}
	}
	walk(t, "docs", ".md", func(path, text string) {
		for _, block := range append(fence.FindAllString(text, -1), code.FindAllString(text, -1)...) {
			check(path, strings.ReplaceAll(block, "\\\n", " "))
		}
	})
	require.Greater(t, n, 20)
}

// Go in the page on algorithms of one's own is that of the example, which is tested.
func TestQuotedCode(t *testing.T) {
	var source strings.Builder
	walk(t, "examples/custom-algorithm", ".go", func(_, text string) { source.WriteString(text) })
	blocks := regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindAllStringSubmatch(page(t, "own-algorithm.md"), -1)
	require.NotEmpty(t, blocks)
	for _, b := range blocks {
		require.Contains(t, source.String(), b[1])
	}
}
