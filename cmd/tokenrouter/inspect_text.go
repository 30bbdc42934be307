package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/tokenrouter/tokenrouter/models"
	"github.com/tokenrouter/tokenrouter/models/gguf"
	"github.com/tokenrouter/tokenrouter/models/tokenizer"
)

func inspectText(w io.Writer, f *gguf.File, r models.Report, all bool) error {
	out := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format+"\n", args...) } // Flush gives the error
	writeFacts(line, f, r)
	writeTokenizer(line, r.Tokenizer)
	line("chat template\t%s", templateLine(r))

	line("\nmetadata (%d)", len(f.Keys()))
	for _, key := range f.Keys() {
		v, _ := f.Get(key)
		e := entryOf(key, v, all)
		line("  %s\t%s\t%s", printable(e.Key), e.Type, short(e))
	}
	writeTensors(line, f, all)

	line("\nproblems")
	for _, p := range r.Problems {
		line("  %v", p)
	}
	if len(r.Problems) == 0 {
		line("  none")
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write the inspection of %s: %w", f.Path, err)
	}
	return nil
}

type printer func(format string, args ...any)

func writeFacts(line printer, f *gguf.File, r models.Report) {
	i := r.Info
	line("file\t%s", f.Path)
	line("size\t%s (%d bytes)", byteSize(f.Size), f.Size)
	if len(f.Parts) > 1 {
		line("parts\t%d", len(f.Parts))
		for i, p := range f.Parts {
			line("  part %d\t%s, %s, %d tensors", i+1, filepath.Base(p.Path), byteSize(p.Size), p.Tensors)
		}
	}
	line("format\tGGUF version %d, alignment %d, tensor data from byte %d", f.Version, f.Alignment, f.DataOffset)
	line("architecture\t%s", printable(cmp.Or(i.Architecture, "not given")))
	line("name\t%s", printable(cmp.Or(i.Name, "not given")))
	for _, n := range []struct {
		name string
		n    int
	}{
		{"context length", i.ContextLength}, {"layers", i.Layers}, {"embedding", i.Embedding}, {"heads", i.Heads},
		{"key/value heads", i.KVHeads},
	} {
		if n.n > 0 {
			line("%s\t%d", n.name, n.n)
		}
	}
	if i.Tensors == 0 {
		line("tensors\tnone: the file is a vocabulary only")
		return
	}
	line("parameters\t%d in %d tensors", i.Parameters, i.Tensors)
	line("quantization\t%s", i.Quantization)
}

func writeTokenizer(line printer, t *tokenizer.Tokenizer) {
	d := detailsOf(t)
	if d == nil {
		line("tokenizer\tnone that works, see problems")
		return
	}
	var types []string
	for _, name := range slices.Sorted(maps.Keys(d.Types)) {
		types = append(types, fmt.Sprintf("%d %s", d.Types[name], name))
	}
	kind := d.Model
	if d.Pre != "" {
		kind += ", pre-tokenizer " + d.Pre
	}
	line("tokenizer\t%s, %d tokens (%s)", kind, t.VocabSize(), strings.Join(types, ", "))
	spell := func(id int32) string {
		text, _, _ := t.Token(id)
		return fmt.Sprintf("%d %s", id, quoted(text))
	}
	var special []string
	for _, n := range specialNames(t.Special()) {
		if n.id != tokenizer.None {
			special = append(special, n.name+" "+spell(n.id))
		}
	}
	if len(special) > 0 {
		line("special tokens\t%s", strings.Join(special, ", "))
	}
	if added := d.added(); added != "" {
		line("added to text\t%s", added)
	}
	var ends []string
	for _, id := range d.End {
		ends = append(ends, spell(id))
	}
	line("end of an answer\t%s", cmp.Or(strings.Join(ends, ", "), "no token: answers end at their length"))
}

func templateLine(r models.Report) string {
	if r.Template == "" {
		return "none: the model completes text, but does not chat"
	}
	line := fmt.Sprintf("%d bytes", len(r.Template))
	switch {
	case r.Chat == nil:
		return line + ", does not work, see problems: the model completes text, but does not chat"
	case r.Chat.ToolsErr() != nil:
		return line + ", takes no tools"
	}
	return line + ", takes tools"
}

func writeTensors(line printer, f *gguf.File, all bool) {
	tensors := f.Tensors
	type sum struct {
		count int
		bytes int64
	}
	sums := map[gguf.TensorType]*sum{}
	for _, t := range tensors {
		if sums[t.Type] == nil {
			sums[t.Type] = &sum{}
		}
		sums[t.Type].count++
		sums[t.Type].bytes += t.Size
	}
	line("\ntensors (%d), by type", len(tensors))
	for _, typ := range slices.SortedFunc(maps.Keys(sums), func(a, b gguf.TensorType) int {
		return cmp.Or(cmp.Compare(sums[b].bytes, sums[a].bytes), cmp.Compare(a, b))
	}) {
		line("  %s\t%d\t%s", typ, sums[typ].count, byteSize(sums[typ].bytes))
	}
	if !all {
		return
	}
	inParts := len(f.Parts) > 1
	head := "\n  name\ttype\tshape\toffset\tbytes"
	if inParts {
		head += "\tpart"
	}
	line("%s", head)
	for _, t := range tensors {
		shape := make([]string, len(t.Shape))
		for i, n := range t.Shape {
			shape[i] = fmt.Sprint(n)
		}
		row := fmt.Sprintf("  %s\t%s\t%s\t%d\t%d", printable(t.Name), t.Type, strings.Join(shape, " x "), t.Offset, t.Size)
		if inParts {
			row += fmt.Sprintf("\t%d", t.Part+1)
		}
		line("%s", row)
	}
}

// printable gives a text of the file without characters that a terminal would obey.
func printable(s string) string {
	q := fmt.Sprintf("%q", s)
	return q[1 : len(q)-1]
}
