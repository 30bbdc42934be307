package main

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/tokenrouter/tokenrouter/models/gguf"
	"github.com/tokenrouter/tokenrouter/models/tokenizer"
)

// firstEntries is how much of a long array is shown.
const firstEntries = 8

func entryOf(key string, v gguf.Value, all bool) metadataEntry {
	e := metadataEntry{Key: key, Type: v.TypeName()}
	if v.Type != gguf.Array {
		e.Value = jsonValue(v.Any())
		return e
	}
	list := reflect.ValueOf(v.Any())
	e.Length = list.Len()
	n := e.Length
	if !all {
		n = min(n, firstEntries)
	}
	shown := make([]any, n) // not the slice itself: JSON has bytes as base64
	for i := range shown {
		shown[i] = jsonValue(list.Index(i).Interface())
	}
	e.Value = shown
	return e
}

// jsonValue gives x as JSON can have it, which has no numbers that are not finite.
func jsonValue(x any) any {
	switch x := x.(type) {
	case float32:
		return finite(float64(x), x)
	case float64:
		return finite(x, x)
	}
	return x
}

func finite(x float64, as any) any {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return fmt.Sprint(x)
	}
	return as
}

func detailsOf(t *tokenizer.Tokenizer) *tokenizerDetails {
	if t == nil {
		return nil
	}
	s := t.Special()
	d := &tokenizerDetails{
		Model: t.Model(), Pre: t.Pre(), Types: map[string]int{}, IDs: map[string]int32{}, End: t.EndIDs(),
		AddBOS: s.AddBOS, AddEOS: s.AddEOS, AddSpace: t.AddsSpace(),
	}
	for id := range t.VocabSize() {
		_, typ, _ := t.Token(int32(id))
		d.Types[typ.String()]++
	}
	for _, n := range specialNames(s) {
		if n.id != tokenizer.None {
			d.IDs[n.name] = n.id
		}
	}
	return d
}

// added lists what text gets before and behind it.
func (d *tokenizerDetails) added() string {
	var out []string
	for _, a := range []struct {
		is   bool
		what string
	}{
		{d.AddBOS, "bos before it"}, {d.AddSpace, "a space before its first word"}, {d.AddEOS, "eos behind it"},
	} {
		if a.is {
			out = append(out, a.what)
		}
	}
	return strings.Join(out, ", ")
}

type specialName struct {
	name string
	id   int32
}

func specialNames(s tokenizer.Special) []specialName {
	return []specialName{
		{"bos", s.BOS}, {"eos", s.EOS}, {"eot", s.EOT}, {"eom", s.EOM}, {"unknown", s.Unknown}, {"padding", s.Padding},
	}
}

// short gives a value of metadata in a line. Strings are quoted: what a file holds must not reach the terminal as it is.
func short(e metadataEntry) string {
	if list, ok := e.Value.([]any); ok {
		parts := make([]string, len(list))
		for i, x := range list {
			parts[i] = quoted(x)
		}
		if len(list) < e.Length {
			parts = append(parts, "...")
		}
		return fmt.Sprintf("%d: [%s]", e.Length, strings.Join(parts, ", "))
	}
	return quoted(e.Value)
}

// longest is the most characters of a string that are shown in a line.
const longest = 70

func quoted(x any) string {
	s, ok := x.(string)
	if !ok {
		return fmt.Sprint(x)
	}
	if n := utf8.RuneCountInString(s); n > longest {
		return fmt.Sprintf("%q... (%d characters)", string([]rune(s)[:longest]), n)
	}
	return fmt.Sprintf("%q", s)
}

// byteSize gives a number of bytes in decimal units, as disks and downloads are counted.
func byteSize(n int64) string {
	units := []string{"kB", "MB", "GB", "TB"}
	if n < 1000 {
		return fmt.Sprintf("%d bytes", n)
	}
	x := float64(n) / 1000
	for i, u := range units {
		if x < 999.95 || i == len(units)-1 {
			return fmt.Sprintf("%.1f %s", x, u)
		}
		x /= 1000
	}
	return ""
}
