// Package ggufcorpus makes the tiny GGUF files, good and bad, that the project's two readers are tested with: the one in
// models/gguf and the native one. Each bad file is named after its one defect. The files lie in tests/testdata/gguf with an
// index that says what both readers must answer, so that neither side can have its own opinion.
//
// Format of the files: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
package ggufcorpus

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Verdict is what both readers must say of a file.
type Verdict string

// The verdicts. Good files are read; what a good file needs besides to run as a model is not its subject.
const (
	Good      Verdict = "good"
	Container Verdict = "container" // a fault of one file's bytes, found by either reader at the same byte
	Parts     Verdict = "parts"     // a fault between the files of a model in parts
	Model     Verdict = "model"     // a file that is read, but makes no model
	Whole     Verdict = "whole"     // a whole model that loads
)

// Case is one file, or the first of several parts, and what is to be said of it.
type Case struct {
	Path    string // from the directory of the corpus
	Verdict Verdict
	Offset  int64    // of a Container fault; else -1
	Words   []string // all of them are in the error
}

// Name is the defect.
func (c Case) Name() string { return strings.TrimSuffix(c.Path, ".gguf") }

// Index is the file that lists the cases: path, verdict, offset and words, separated by tabs.
const Index = "cases.tsv"

// Dir is the directory of the corpus, seen from that of a package two levels below the root.
const Dir = "../../tests/testdata/gguf"

// Load reads the index in dir.
func Load(dir string) ([]Case, error) {
	text, err := os.ReadFile(filepath.Join(dir, Index))
	if err != nil {
		return nil, fmt.Errorf("corpus of GGUF files: %w", err)
	}
	var cases []Case
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) < 3 {
			return nil, fmt.Errorf("corpus of GGUF files: the line %q has %d fields, expected at least 3", line, len(fields))
		}
		offset, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("corpus of GGUF files: the line %q: %w", line, err)
		}
		cases = append(cases, Case{fields[0], Verdict(fields[1]), offset, fields[3:]})
	}
	return cases, nil
}

// made is a case with its files, by their paths.
type made struct {
	Case
	files map[string][]byte
}

func all() []made {
	var out []made
	for _, group := range [][]made{headers(), values(), tensors(), parts(), models()} {
		out = append(out, group...)
	}
	return out
}

// Write makes the corpus anew in dir.
func Write(dir string) error {
	var index strings.Builder
	for _, m := range all() {
		for path, b := range m.files {
			path = filepath.Join(dir, path)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return fmt.Errorf("corpus of GGUF files: %w", err)
			}
			if err := os.WriteFile(path, b, 0o644); err != nil {
				return fmt.Errorf("corpus of GGUF files: %w", err)
			}
		}
		fields := append([]string{m.Path, string(m.Verdict), strconv.FormatInt(m.Offset, 10)}, m.Words...)
		index.WriteString(strings.Join(fields, "\t") + "\n")
	}
	if err := os.WriteFile(filepath.Join(dir, Index), []byte(index.String()), 0o644); err != nil {
		return fmt.Errorf("corpus of GGUF files: %w", err)
	}
	return nil
}

// one is a case of a single file.
func one(name string, verdict Verdict, offset int64, b []byte, words ...string) made {
	path := name + ".gguf"
	return made{Case{path, verdict, offset, words}, map[string][]byte{path: b}}
}

func good(name string, b []byte) made { return one(name, Good, -1, b) }

// bad is a fault of the container at a byte.
func bad(name string, offset int64, b []byte, words ...string) made {
	return one(name, Container, offset, b, words...)
}
