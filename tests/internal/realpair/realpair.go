// Package realpair finds the real pair of models that tests run on: Qwen2.5-Coder-Instruct 0.5B and 1.5B, as
// scripts/fetch-models leaves them.
package realpair

import (
	"os"
	"path/filepath"
	"testing"
)

// File names and the names that golden files use.
const (
	SmallName = "qwen2.5-coder-0.5b"
	LargeName = "qwen2.5-coder-1.5b"
	smallFile = "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"
	largeFile = "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
)

// Small is the path of the small model. A test is skipped if it is not there; with TOKENROUTER_REQUIRE_MODELS=1, as in
// `make test`, it fails.
func Small(t testing.TB) string { return find(t, smallFile) }

// Large is the path of the large model.
func Large(t testing.TB) string { return find(t, largeFile) }

func find(t testing.TB, file string) string {
	t.Helper()
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
			t.Fatalf("the real pair is needed: %v (make models downloads it)", err)
		}
		t.Skipf("%v (make models downloads it)", err)
	}
	return path
}
