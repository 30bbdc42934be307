package bindings

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/bindings/internal/cheader"
)

const headerPath = "../native/include/tokenrouter.h"

func header(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(headerPath)
	require.NoError(t, err)
	return string(text)
}

// TestABI compares the bindings with the header: functions, prototypes, constants, structs.
func TestABI(t *testing.T) {
	require.Empty(t, auditABI(t, header(t)))
}

// TestABIAuditFindsDefects plants one difference at a time into the header: the audit must name each.
func TestABIAuditFindsDefects(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"function added", "TR_API void tr_arena_free(", "TR_API void tr_new_thing(void);\nTR_API void tr_arena_free(", "tr_new_thing is declared and not in the symbol table"},
		{"function removed", "TR_API void tr_arena_free(tr_arena *arena);", "", "tr_arena_free is in the symbol table and not declared"},
		{"argument added", "int32_t from, int32_t to,", "int32_t from, int32_t to, int32_t n,", "tr_arena_copy_page is declared as"},
		{"argument type", "tr_arena_copy_page(tr_arena *arena, int32_t from", "tr_arena_copy_page(tr_arena *arena, int64_t from", "tr_arena_copy_page is declared as"},
		{"result type", "TR_API void tr_model_free", "TR_API tr_status tr_model_free", "tr_model_free is declared as"},
		{"ABI version", fmt.Sprint("TR_ABI_VERSION ", ABIVersion), "TR_ABI_VERSION 999", "TR_ABI_VERSION is 999 in the header"},
		{"status renumbered", "TR_ERR_IO = 2", "TR_ERR_IO = 3", "TR_ERR_IO is 3 in the header"},
		{"status added", "TR_ERR_INTERNAL = 7", "TR_ERR_INTERNAL = 7, TR_ERR_BUSY = 8", "TR_ERR_BUSY is not bound"},
		{"flag moved", "TR_WANT_HIDDEN = 2", "TR_WANT_HIDDEN = 8", "TR_WANT_HIDDEN is 8 in the header"},
		{"page size", "TR_PAGE_TOKENS 32", "TR_PAGE_TOKENS 16", "TR_PAGE_TOKENS is 16 in the header"},
		{"struct added", "typedef struct tr_arena tr_arena;", "typedef struct tr_arena tr_arena; typedef struct tr_new { uint32_t size; } tr_new;", "tr_new has no mirror"},
		{"field added", "float min_p;", "float min_p; float typical_p;", "tr_sampling has 19 fields, its mirror 18"},
		{"field renamed", "float min_p;", "float typical_p;", "tr_sampling.typical_p is minP in the mirror"},
		{"fields swapped", "int32_t n_head;\n    int32_t n_head_kv;", "int32_t n_head_kv;\n    int32_t n_head;", "tr_model_info.n_head_kv is nHead in the mirror"},
		{"field type", "float temperature;", "int32_t temperature;", "tr_sampling.temperature is int32_t"},
		{"field wider", "int32_t n_vocab;", "int64_t n_vocab;", "tr_model_info.n_vocab is int64_t"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := header(t)
			require.Contains(t, text, c.old, "the defect has no place to be planted")
			problems := auditABI(t, strings.Replace(text, c.old, c.new, 1))
			require.Contains(t, strings.Join(problems, "\n"), c.want)
		})
	}
}

// auditABI lists where the bindings differ from a header, layouts as the C compiler sees them aside (layout_test.go).
func auditABI(t *testing.T, text string) []string {
	h, err := cheader.Parse(text)
	require.NoError(t, err)
	problems := auditFunctions(t, h)
	problems = append(problems, auditConstants(h)...)
	problems = append(problems, auditStructs(h)...)
	return problems
}

func auditFunctions(t *testing.T, h *cheader.Header) (problems []string) {
	var bound []string
	for _, s := range new(symbols).table() {
		bound = append(bound, s.name)
	}
	written := prototypes(t)
	for name, prototype := range h.Functions {
		if !slices.Contains(bound, name) {
			problems = append(problems, name+" is declared and not in the symbol table")
			continue
		}
		if got := written[name]; !slices.Equal(got, []string{prototype}) {
			problems = append(problems, fmt.Sprintf("%s is declared as %q, above its binding stands %q", name, prototype, got))
		}
	}
	for _, name := range bound {
		if _, ok := h.Functions[name]; !ok {
			problems = append(problems, name+" is in the symbol table and not declared")
		}
	}
	return problems
}

var prototypeLine = regexp.MustCompile(`^[a-z].*\b(tr_\w+)\(.*\);$`)

// prototypes are the C prototypes in the doc comments of this package's functions, by C name.
func prototypes(t *testing.T) map[string][]string {
	found := map[string][]string{}
	paths, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		require.NoError(t, err)
		for _, declaration := range file.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			if !ok {
				continue
			}
			for line := range strings.Lines(function.Doc.Text()) {
				line = strings.TrimSpace(line)
				if m := prototypeLine.FindStringSubmatch(line); m != nil {
					found[m[1]] = append(found[m[1]], cheader.Normalize(line))
				}
			}
		}
	}
	return found
}

// Every constant of the header with the one it is here.
var constants = map[string]int64{
	"TR_ABI_VERSION":       ABIVersion,
	"TR_OK":                int64(statusOK),
	"TR_ERR_ARGUMENT":      int64(ErrArgument),
	"TR_ERR_IO":            int64(ErrIO),
	"TR_ERR_FORMAT":        int64(ErrFormat),
	"TR_ERR_UNSUPPORTED":   int64(ErrUnsupported),
	"TR_ERR_NO_MEMORY":     int64(ErrNoMemory),
	"TR_ERR_DEVICE":        int64(ErrDevice),
	"TR_ERR_INTERNAL":      int64(ErrInternal),
	"TR_MODEL_EXACT_FLOAT": modelExactFloat,
	"TR_MODEL_CHECK_ONLY":  modelCheckOnly,
	"TR_PAGE_TOKENS":       PageTokens,
	"TR_MAX_TOP":           MaxTop,
	"TR_KV_F16":            int64(KVF16),
	"TR_KV_Q8_0":           int64(KVQ80),
	"TR_WANT_TOKEN":        wantToken,
	"TR_WANT_HIDDEN":       wantHidden,
	"TR_WANT_LOGITS":       wantLogits,
}

func auditConstants(h *cheader.Header) (problems []string) {
	for name, value := range h.Constants {
		switch got, ok := constants[name]; {
		case !ok:
			problems = append(problems, name+" is not bound")
		case got != value:
			problems = append(problems, fmt.Sprintf("%s is %d in the header and %d here", name, value, got))
		}
	}
	for name := range constants {
		if _, ok := h.Constants[name]; !ok {
			problems = append(problems, name+" is not in the header")
		}
	}
	return problems
}

// Every struct of the header with its mirror.
var mirrors = map[string]reflect.Type{
	"tr_device_params": reflect.TypeFor[deviceParams](),
	"tr_device_info":   reflect.TypeFor[deviceInfo](),
	"tr_model_params":  reflect.TypeFor[modelParams](),
	"tr_model_info":    reflect.TypeFor[modelInfo](),
	"tr_head_info":     reflect.TypeFor[headInfo](),
	"tr_arena_params":  reflect.TypeFor[arenaParams](),
	"tr_arena_info":    reflect.TypeFor[arenaInfo](),
	"tr_segment":       reflect.TypeFor[segment](),
	"tr_sampling":      reflect.TypeFor[sampling](),
	"tr_row":           reflect.TypeFor[row](),
	"tr_batch":         reflect.TypeFor[batch](),
}

// kinds are the Go kinds that may mirror a C type. A pointer that the library writes is a uintptr here.
var kinds = map[string][]reflect.Kind{
	"int32_t":  {reflect.Int32},
	"uint32_t": {reflect.Uint32},
	"int64_t":  {reflect.Int64},
	"uint64_t": {reflect.Uint64},
	"float":    {reflect.Float32},
	"*":        {reflect.Pointer, reflect.Uintptr},
}

func auditStructs(h *cheader.Header) (problems []string) {
	for _, s := range h.Structs {
		mirror, ok := mirrors[s.Name]
		if !ok {
			problems = append(problems, s.Name+" has no mirror")
			continue
		}
		if mirror.NumField() != len(s.Fields) {
			problems = append(problems, fmt.Sprintf("%s has %d fields, its mirror %d", s.Name, len(s.Fields), mirror.NumField()))
			continue
		}
		for i, f := range s.Fields {
			got := mirror.Field(i)
			if got.Name != camel(f.Name) {
				problems = append(problems, fmt.Sprintf("%s.%s is %s in the mirror", s.Name, f.Name, got.Name))
			}
			if !slices.Contains(kinds[f.Type], got.Type.Kind()) {
				problems = append(problems, fmt.Sprintf("%s.%s is %s in the header and %s in the mirror", s.Name, f.Name, f.Type, got.Type))
			}
		}
	}
	for name := range mirrors {
		if !slices.ContainsFunc(h.Structs, func(s cheader.Struct) bool { return s.Name == name }) {
			problems = append(problems, name+" is not in the header")
		}
	}
	return problems
}

// camel turns n_head_kv into nHeadKv.
func camel(snake string) string {
	words := strings.Split(snake, "_")
	for i, w := range words[1:] {
		words[i+1] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}
