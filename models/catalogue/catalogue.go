// Package catalogue knows models and router heads by names of its own, so that a configuration need not name a file: those that the
// program carries, and models that can be downloaded, with the pairs of them that go together (catalogue.yaml).
//
// Both are loaded from files: a carried one that is asked for is extracted to the user's cache directory, under its content
// hash. Package store has those that were downloaded.
package catalogue

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tokenrouter/tokenrouter/models/pair"
)

// The models of the default pair, and the routers for them.
const (
	DemoSmall = "demo-small"
	DemoLarge = "demo-large"
	DemoCITER = "demo-citer"
	DemoR2R   = "demo-r2r"
	DemoCoLLM = "demo-co-llm"
)

// Where each is in pair.Files.
var (
	modelFiles = map[string]string{DemoSmall: "small.gguf", DemoLarge: "large.gguf"}
	headFiles  = map[string]string{DemoCITER: "heads/citer.gguf", DemoR2R: "heads/r2r.gguf", DemoCoLLM: "heads/co-llm.gguf"}
)

// Carried lists the models that the program carries, sorted.
func Carried() []string { return slices.Sorted(maps.Keys(modelFiles)) }

// CarriedFile returns the path of a GGUF file that holds the named model, one of those that the program carries. Safe for concurrent
// use, also by several processes.
func CarriedFile(name string) (string, error) { return carried("model", modelFiles, name) }

// Heads lists the router heads that the program carries, sorted.
func Heads() []string { return slices.Sorted(maps.Keys(headFiles)) }

// Head returns the path of a GGUF file that holds the named router head; otherwise like [CarriedFile].
func Head(name string) (string, error) { return carried("router head", headFiles, name) }

// carried extracts the named one of what the program carries.
func carried(what string, files map[string]string, name string) (string, error) {
	file, ok := files[name]
	if !ok {
		return "", fmt.Errorf("no %s of the catalogue is called %q, expected one of %s", what, name, strings.Join(slices.Sorted(maps.Keys(files)), ", "))
	}
	content, err := fs.ReadFile(pair.Files, file)
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", what, name, err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("%s %s is extracted to the cache directory: %w", what, name, err)
	}
	path, err := extract(content, filepath.Join(cache, "tokenrouter", "carried"), name+".gguf")
	if err != nil {
		return "", fmt.Errorf("extract %s %s: %w; a cache directory that can be written is named by XDG_CACHE_HOME", what, name, err)
	}
	return path, nil
}

// extract puts content at DIR/<first 16 digits of its SHA-256>/FILE and returns that path. A file that is there already
// is used if it holds the content and replaced if not; it is written under another name first, so that whoever opens the
// path finds one whole file.
func extract(content []byte, dir, file string) (string, error) {
	sum := sha256.Sum256(content)
	path := filepath.Join(dir, hex.EncodeToString(sum[:8]), file)
	if found, err := os.ReadFile(path); err == nil && sha256.Sum256(found) == sum {
		return path, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".extract-")
	if err != nil {
		return "", err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return path, nil
}
