package bindings

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
)

// The directory holds the library only after `make build`; the pattern matches without it too.
//
//go:embed embedded
var embedded embed.FS

// openEmbedded opens the copy that the program carries. The loader wants a file, so the copy is extracted to the user's
// cache directory, under its content hash; where that cannot be written or cannot be loaded from, to a temporary one.
func openEmbedded() (*Library, error) {
	content, err := embedded.ReadFile(path.Join("embedded", FileName))
	if err != nil {
		return nil, fmt.Errorf("%w in this program", errAbsent)
	}
	return openCarried(content)
}

// openCarried opens a library given as bytes.
func openCarried(content []byte) (*Library, error) {
	library, err := openCached(content)
	if err == nil || errors.Is(err, ErrABIVersion) {
		return library, err
	}
	library, errTemp := openTemporary(content)
	if errTemp != nil {
		return nil, fmt.Errorf("embedded copy of the native library: %w", errors.Join(err, errTemp))
	}
	return library, nil
}

func openCached(content []byte) (*Library, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("cache directory: %w", err)
	}
	file, err := extract(content, filepath.Join(cache, "tokenrouter", "lib"))
	if err != nil {
		return nil, err
	}
	return open(file, "embedded copy")
}

// openTemporary extracts into a directory of this process's own and removes it as soon as the library is mapped.
func openTemporary(content []byte) (*Library, error) {
	dir, err := os.MkdirTemp("", "tokenrouter-")
	if err != nil {
		return nil, fmt.Errorf("temporary directory: %w", err)
	}
	defer os.RemoveAll(dir)
	file, err := extract(content, dir)
	if err != nil {
		return nil, err
	}
	return open(file, "embedded copy, temporary")
}

// extract puts content at DIR/<first 16 digits of its SHA-256>/libtokenrouter.so and returns that path. A file that is
// there already is used if its hash is right and replaced if not. Processes may extract at the same time: each writes a
// file of its own and renames it, so that whoever opens the path finds one whole file, and a running program keeps the
// one it has mapped.
//
// Both directories are made for the owner only, and refused if another user owns or may write to them: what is loaded from
// there runs as this user. (What lies above them is shared with other files and has the user's usual permissions.)
func extract(content []byte, dir string) (string, error) {
	sum := sha256.Sum256(content)
	digest := hex.EncodeToString(sum[:])
	dir = filepath.Join(dir, digest[:16])
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("extract the native library: %w", err)
	}
	for _, d := range []string{filepath.Dir(dir), dir} {
		if err := checkPrivate(d); err != nil {
			return "", fmt.Errorf("extract the native library: %w", err)
		}
	}
	file := filepath.Join(dir, FileName)
	if found, err := digestOf(file); err == nil && found == digest {
		return file, nil
	}
	if err := writeAtomically(file, content); err != nil {
		return "", fmt.Errorf("extract the native library: %w", err)
	}
	return file, nil
}

func writeAtomically(file string, content []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(file), ".extract-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.Write(content)
	// On disk before it gets its name: after a crash the name must not lead to half a file. (The hash would tell, too.)
	err = errors.Join(err, f.Sync(), f.Chmod(0o500), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}
