// Command accuracy measures how close the engine is to other arithmetic and writes the figures as JSON: agreement with
// golden answers of llama.cpp, and the divergence of the integer path from float32 on dequantized weights.
//
//	go run ./bench/accuracy --models DIRECTORY --out bench/results/accuracy.json
//
// The 1.5B model's float path takes about 7 GB of memory.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tokenrouter/tokenrouter/bench/report"
	"github.com/tokenrouter/tokenrouter/bench/teacher"
	"github.com/tokenrouter/tokenrouter/bindings"
)

// result is one model's part of the output.
type result struct {
	Model      string             `json:"model"`
	File       string             `json:"file"`
	Golden     teacher.Agreement  `json:"golden"`
	ExactFloat teacher.Divergence `json:"exact_float"`
	Seconds    float64            `json:"seconds"`
}

func main() {
	models := flag.String("models", os.Getenv("TOKENROUTER_MODELS"), "directory of the two GGUF files")
	goldenPath := flag.String("golden", "tests/testdata/golden-qwen2.5-coder.json", "golden answers")
	out := flag.String("out", "", "file to write; default: standard output")
	flag.Parse()
	if err := run(*models, *goldenPath, *out); err != nil {
		fmt.Fprintln(os.Stderr, "accuracy:", err)
		os.Exit(1)
	}
}

func run(models, goldenPath, out string) error {
	golden, err := teacher.Load(goldenPath)
	if err != nil {
		return err
	}
	library, err := bindings.Load("")
	if err != nil {
		return err
	}
	var results []result
	for _, m := range []struct{ name, file string }{
		{"qwen2.5-coder-0.5b", "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"},
		{"qwen2.5-coder-1.5b", "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"},
	} {
		r, err := measure(library, filepath.Join(models, m.file), golden.Models[m.name])
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		r.Model, r.File = m.name, m.file
		fmt.Fprintf(os.Stderr, "%s: %+v %+v\n", m.name, r.Golden, r.ExactFloat)
		results = append(results, r)
	}
	text, err := json.MarshalIndent(map[string]any{"setting": report.Setting(library.Version()), "models": results}, "", "  ")
	if err != nil {
		return err
	}
	text = append(text, '\n')
	if out == "" {
		_, err = os.Stdout.Write(text)
		return err
	}
	return os.WriteFile(out, text, 0o644)
}

func measure(library *bindings.Library, path string, answers []teacher.Answer) (r result, err error) {
	start := time.Now()
	integer, err := teacher.Open(library, path, false)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, integer.Close()) }()
	if r.Golden, err = teacher.Agree(integer, answers); err != nil {
		return r, err
	}
	exact, err := teacher.Open(library, path, true)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, exact.Close()) }()
	r.ExactFloat, err = teacher.Diverge(exact, integer, answers)
	r.Seconds = time.Since(start).Seconds()
	return r, err
}
