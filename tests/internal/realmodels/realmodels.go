// Package realmodels finds the real models that tests run on, as scripts/fetch-models leaves them.
package realmodels

import (
	"os"
	"path/filepath"
	"testing"
)

// The names that golden files use. Small and Large are the pair that routes are tested with.
const (
	Small   = "qwen2.5-coder-0.5b"
	Large   = "qwen2.5-coder-1.5b"
	SmolLM2 = "smollm2-135m"
	Gemma3  = "gemma-3-270m"
)

var files = map[string]string{
	Small:   "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
	Large:   "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
	SmolLM2: "smollm2-135m-instruct-q4_1.gguf",
	Gemma3:  "gemma-3-270m-q4_k_m.gguf",
}

// Path is where the file of a model lies. A test is skipped if it is not there; with TOKENROUTER_REQUIRE_MODELS=1, as in
// `make test`, it fails.
func Path(t testing.TB, name string) string {
	t.Helper()
	file, ok := files[name]
	if !ok {
		t.Fatalf("there is no real model named %q", name)
	}
	dir := os.Getenv("TOKENROUTER_MODELS")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatalf("TOKENROUTER_MODELS is not set, and there is no cache directory: %v", err)
		}
		dir = filepath.Join(cache, "tokenrouter", "models")
	}
	path := filepath.Join(dir, file)
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("TOKENROUTER_REQUIRE_MODELS") == "1" {
			t.Fatalf("a real model is needed: %v (make models downloads it)", err)
		}
		t.Skipf("%v (make models downloads it)", err)
	}
	return path
}
