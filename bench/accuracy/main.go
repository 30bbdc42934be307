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
	"github.com/tokenrouter/tokenrouter/models"
	"github.com/tokenrouter/tokenrouter/models/tokenizer"
)

// result is one model's part of the output.
type result struct {
	Model      string             `json:"model"`
	File       string             `json:"file"`
	Golden     teacher.Agreement  `json:"golden"`
	ExactFloat teacher.Divergence `json:"exact_float"`
	Perplexity perplexity         `json:"perplexity"`
	Seconds    float64            `json:"seconds"`
}

// perplexity is that of the beginning of a fixed text.
type perplexity struct {
	Tokens  int     `json:"tokens"`
	Integer float64 `json:"integer"`
	Exact   float64 `json:"exact_float"`
}

// textTokens is how much of the text is read.
const textTokens = 2000

func main() {
	dir := flag.String("models", os.Getenv("TOKENROUTER_MODELS"), "directory of the GGUF files")
	goldenDir := flag.String("golden", "tests/testdata", "directory of the golden answers")
	out := flag.String("out", "", "file to write; default: standard output")
	flag.Parse()
	if err := run(*dir, *goldenDir, *out); err != nil {
		fmt.Fprintln(os.Stderr, "accuracy:", err)
		os.Exit(1)
	}
}

func run(dir, goldenDir, out string) error {
	library, err := bindings.Load("")
	if err != nil {
		return err
	}
	var results []result
	for _, m := range []struct{ name, file, golden string }{
		{"smollm2-135m", "smollm2-135m-instruct-q4_1.gguf", "golden-smollm2.json"},
		{"gemma-3-270m", "gemma-3-270m-q4_k_m.gguf", "golden-gemma-3.json"},
		{"qwen2.5-coder-0.5b", "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf", "golden-qwen2.5-coder.json"},
		{"qwen2.5-coder-1.5b", "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf", "golden-qwen2.5-coder.json"},
	} {
		golden, err := teacher.Load(filepath.Join(goldenDir, m.golden))
		if err != nil {
			return err
		}
		r, err := measure(library, filepath.Join(dir, m.file), golden.Models[m.name], filepath.Join(goldenDir, "perplexity.txt"))
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

func measure(library *bindings.Library, path string, answers []teacher.Answer, text string) (r result, err error) {
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
	if r.ExactFloat, err = teacher.Diverge(exact, integer, answers); err != nil {
		return r, err
	}
	ids, err := tokens(path, text)
	if err != nil {
		return r, err
	}
	if r.Perplexity.Integer, r.Perplexity.Tokens, err = integer.Perplexity(ids); err != nil {
		return r, err
	}
	r.Perplexity.Exact, _, err = exact.Perplexity(ids)
	r.Seconds = time.Since(start).Seconds()
	return r, err
}

// tokens are the first ones of the text as the model reads it.
func tokens(model, text string) ([]int32, error) {
	m, err := models.Open(model)
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(text)
	if err != nil {
		return nil, fmt.Errorf("text for the perplexity: %w", err)
	}
	ids := m.Tokenizer().Encode(string(content), tokenizer.Options{})
	if len(ids) < textTokens {
		return nil, fmt.Errorf("text for the perplexity: %d tokens, %d are needed", len(ids), textTokens)
	}
	return ids[:textTokens], nil
}
