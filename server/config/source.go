package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// source says where in the file each value stands.
type source struct {
	file   string
	values map[string]*token.Position // by path
	keys   map[string]*token.Position // of mappings: where the key itself stands
}

// problem makes a Problem about the value at path, or about its key. What is not in the file (a missing key, a default)
// is placed at the nearest part around it that is.
func (s source) problem(path string, key bool, message string) Problem {
	p := Problem{Path: path, Message: message}
	for at := path; ; at = parent(at) {
		pos := s.values[at]
		if k := s.keys[at]; k != nil && (key || at != path) {
			pos = k
		}
		if pos != nil {
			p.Line, p.Column = pos.Line, pos.Column
			return p
		}
		if at == "" {
			return p
		}
	}
}

// parent cuts the last part off a path.
func parent(path string) string {
	if i := strings.LastIndexAny(path, ".["); i > 0 {
		return path[:i]
	}
	return ""
}

func member(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func item(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// mostNodes bounds what aliases can blow a small file up to.
const mostNodes = 100_000

// reader turns a syntax tree into plain values: map[string]any, []any, string, bool, int64, uint64, float64. A key
// without a value counts as left out.
type reader struct {
	source
	anchors  map[string]ast.Node
	problems []Problem
	nodes    int
}

// parse reads YAML text. The value is nil for a text without content.
func parse(file string, text []byte) (any, source, error) {
	r := reader{source: source{file, map[string]*token.Position{}, map[string]*token.Position{}}, anchors: map[string]ast.Node{}}
	tree, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, r.source, syntaxError(file, err)
	}
	var body ast.Node
	for _, d := range tree.Docs {
		if d == nil || d.Body == nil || d.Body.Type() == ast.CommentType {
			continue
		}
		if body != nil {
			r.complain("", d.Body, "a second YAML document; a configuration is one")
			break
		}
		body = d.Body
	}
	var v any
	if body != nil {
		v = r.read(body, "")
	}
	return v, r.source, failure(file, r.problems)
}

func syntaxError(file string, err error) error {
	var y yaml.Error
	if !errors.As(err, &y) {
		return &Error{File: file, Problems: []Problem{{Message: "not valid YAML: " + err.Error()}}}
	}
	p := Problem{Message: "not valid YAML: " + y.GetMessage()}
	if t := y.GetToken(); t != nil && t.Position != nil {
		p.Line, p.Column = t.Position.Line, t.Position.Column
	}
	return &Error{File: file, Problems: []Problem{p}}
}

func (r *reader) complain(path string, n ast.Node, format string, args ...any) {
	p := Problem{Path: path, Message: fmt.Sprintf(format, args...)}
	if pos := position(n); pos != nil {
		p.Line, p.Column = pos.Line, pos.Column
	}
	r.problems = append(r.problems, p)
}

func position(n ast.Node) *token.Position {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		n = m.Values[0].Key // the token of a block mapping is its first colon
	} else if m, ok := n.(*ast.MappingValueNode); ok {
		n = m.Key
	}
	if t := n.GetToken(); t != nil {
		return t.Position
	}
	return nil
}

func (r *reader) read(n ast.Node, path string) any {
	if r.nodes++; r.nodes > mostNodes {
		if r.nodes == mostNodes+1 {
			r.complain(path, n, "more than %d values", mostNodes)
		}
		return nil
	}
	if pos := position(n); pos != nil && r.values[path] == nil {
		r.values[path] = pos
	}
	switch n := n.(type) {
	case *ast.NullNode:
		return nil
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	case *ast.BoolNode:
		return n.Value
	case *ast.IntegerNode:
		return n.Value
	case *ast.FloatNode:
		return n.Value
	case *ast.SequenceNode:
		list := make([]any, 0, len(n.Values))
		for i, v := range n.Values {
			list = append(list, r.read(v, item(path, i)))
		}
		return list
	case *ast.MappingNode:
		return r.mapping(n.Values, path)
	case *ast.MappingValueNode:
		return r.mapping([]*ast.MappingValueNode{n}, path)
	case *ast.AnchorNode:
		v := r.read(n.Value, path)
		r.anchors[n.Name.GetToken().Value] = n.Value // known from here on, so that no anchor can hold itself
		return v
	case *ast.AliasNode:
		name := n.Value.GetToken().Value
		target, ok := r.anchors[name]
		if !ok {
			r.complain(path, n, "no anchor &%s before the alias *%s", name, name)
			return nil
		}
		return r.read(target, path)
	case *ast.InfinityNode, *ast.NanNode:
		r.complain(path, n, "%s is not a number that can be used here", n.String())
		return nil
	default:
		r.complain(path, n, "YAML %ss are not supported here", strings.ToLower(n.Type().String()))
		return nil
	}
}

func (r *reader) mapping(entries []*ast.MappingValueNode, path string) any {
	m := make(map[string]any, len(entries))
	for _, e := range entries {
		name, ok := e.Key.(*ast.StringNode)
		if !ok {
			if _, merge := e.Key.(*ast.MergeKeyNode); merge {
				r.merge(m, e, path)
			} else {
				r.complain(path, e.Key, "key %s is not a plain text", e.Key.String())
			}
			continue
		}
		at := member(path, name.Value)
		r.keys[at] = name.GetToken().Position
		if v := r.read(e.Value, at); v != nil {
			m[name.Value] = v
		}
	}
	return m
}

// merge adds what `<<: *anchor` names, without overriding keys of the mapping itself. (In the YAML type repository's
// merge key, keys that follow override, too: they are set after this.)
func (r *reader) merge(m map[string]any, e *ast.MappingValueNode, path string) {
	from, ok := r.read(e.Value, path).(map[string]any)
	if !ok {
		r.complain(path, e.Value, "what << merges is not a mapping")
		return
	}
	for k, v := range from {
		if _, set := m[k]; !set {
			m[k] = v
		}
	}
}
