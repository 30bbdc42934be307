package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tokenrouter/tokenrouter/internal/suggest"
	"github.com/tokenrouter/tokenrouter/models/catalogue"
	"github.com/tokenrouter/tokenrouter/models/fetch"
)

// Store is a directory with models. Safe for concurrent use, also by several processes.
type Store struct {
	Dir string
}

// ErrAbsent says that a model is not in the store.
var ErrAbsent = errors.New("is not on this machine")

// Default is the store that TOKENROUTER_MODELS names, or else tokenrouter/models in the user's cache directory.
func Default() (*Store, error) {
	if dir := os.Getenv("TOKENROUTER_MODELS"); dir != "" {
		return &Store{dir}, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("models are kept in the cache directory, or where TOKENROUTER_MODELS says: %w", err)
	}
	return &Store{filepath.Join(cache, "tokenrouter", "models")}, nil
}

// Model is one that is in the store, or that is on its way there.
type Model struct {
	Name     string      `json:"name"` // in the catalogue, or else of its file
	Path     string      `json:"path"` // of the file, or of its first part
	Bytes    int64       `json:"bytes"`
	Parts    int         `json:"parts"`              // files; 1 unless the model is in parts
	Missing  []string    `json:"missing,omitempty"`  // parts that are not there
	Partial  bool        `json:"partial,omitempty"`  // a download that was not finished
	Source   string      `json:"source,omitempty"`   // "": not known
	SHA256   string      `json:"sha256,omitempty"`   // of a file that was pulled whole
	Proof    fetch.Proof `json:"proof,omitempty"`    // what the checksum was compared with
	Modified time.Time   `json:"modified,omitempty"` // of the file
}

// record is what is kept beside a file.
type record struct {
	Source string      `json:"source"`
	Bytes  int64       `json:"bytes"`
	SHA256 string      `json:"sha256"`
	Proof  fetch.Proof `json:"proof"`
	Pulled time.Time   `json:"pulled"`
}

func (s *Store) path(file string) string       { return filepath.Join(s.Dir, file) }
func (s *Store) recordPath(file string) string { return s.path("." + file + ".json") }

// recordOf returns what is known of a file; false if nothing is, or if the file is another by now.
func (s *Store) recordOf(file string, bytes int64) (record, bool) {
	var r record
	text, err := os.ReadFile(s.recordPath(file))
	return r, err == nil && json.Unmarshal(text, &r) == nil && r.Bytes == bytes
}

// nameOf is what a file's model is called.
func nameOf(file string) string {
	for _, m := range catalogue.Models() {
		if m.File() == file {
			return m.Name
		}
	}
	return stem(file)
}

// List lists what is in the store, by name. A directory that does not exist is an empty store.
func (s *Store) List() ([]Model, error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("models: %w", err)
	}
	byName := map[string]*Model{}
	for _, e := range entries {
		file, partial := strings.CutSuffix(e.Name(), ".part")
		info, err := os.Stat(s.path(e.Name()))
		if err != nil || !info.Mode().IsRegular() || !fileName.MatchString(file) {
			continue
		}
		key := nameOf(file)
		if partial {
			key += " (partial)"
		}
		m := byName[key]
		if m == nil {
			m = &Model{Name: nameOf(file), Path: s.path(file), Partial: partial, Modified: info.ModTime()}
			byName[key] = m
		}
		m.Parts++
		m.Bytes += info.Size()
		if r, ok := s.recordOf(file, info.Size()); ok && !partial {
			m.Source = r.Source
			if numbered.FindString(file) == "" {
				m.SHA256, m.Proof = r.SHA256, r.Proof
			}
		}
	}
	list := make([]Model, 0, len(byName))
	for _, m := range byName {
		if !m.Partial {
			m.Missing = s.missing(m.Path)
		}
		list = append(list, *m)
	}
	slices.SortFunc(list, func(a, b Model) int { return strings.Compare(a.Name+a.Path, b.Name+b.Path) })
	return list, nil
}

// missing lists the parts of a model that are not there.
func (s *Store) missing(path string) []string {
	m := numbered.FindStringSubmatch(filepath.Base(path))
	if m == nil {
		return nil
	}
	var list []string
	n, _ := strconv.Atoi(m[3])
	for i := 1; i <= min(n, maxParts); i++ {
		file := fmt.Sprintf("%s-%05d-of-%s.gguf", m[1], i, m[3])
		if _, err := os.Stat(s.path(file)); err != nil {
			list = append(list, file)
		}
	}
	return list
}

// Find returns the whole model of that name. Without one the error is ErrAbsent, and says what to do.
func (s *Store) Find(name string) (Model, error) {
	list, err := s.List()
	if err != nil {
		return Model{}, err
	}
	names := append(catalogue.ModelNames(), catalogue.Carried()...)
	for _, m := range list {
		if m.Name == name || filepath.Base(m.Path) == name || stem(filepath.Base(m.Path)) == name {
			switch {
			case m.Partial:
				continue
			case len(m.Missing) > 0:
				return m, fmt.Errorf("model %s %w whole: %s is missing; get it with: tokenrouter pull %s", name, ErrAbsent, m.Missing[0], name)
			}
			return m, nil
		}
		names = append(names, m.Name)
	}
	if m := catalogue.Find(name); m != nil {
		size, _ := m.Size()
		return Model{}, fmt.Errorf("model %s %w; get it (%s) with: tokenrouter pull %s", name, ErrAbsent, fetch.Size(size), name)
	}
	return Model{}, fmt.Errorf("model %s %w%s; see: tokenrouter list --all", name, ErrAbsent, suggest.Phrase(name, names))
}

// File returns the path of a model by its name: of one that the program carries, or of one in the store.
func File(name string) (string, error) {
	if slices.Contains(catalogue.Carried(), name) {
		return catalogue.CarriedFile(name)
	}
	s, err := Default()
	if err != nil {
		return "", err
	}
	m, err := s.Find(name)
	return m.Path, err
}

// Remove removes a model by its name, whole or not: its files, and what was left of a download. It returns what it removed.
func (s *Store) Remove(name string) ([]Model, error) {
	list, err := s.List()
	if err != nil {
		return nil, err
	}
	var removed []Model
	names := make([]string, 0, len(list))
	for _, m := range list {
		names = append(names, m.Name)
		if m.Name != name && filepath.Base(m.Path) != name && stem(filepath.Base(m.Path)) != name {
			continue
		}
		if err := s.remove(m); err != nil {
			return removed, fmt.Errorf("model %s: %w", name, err)
		}
		removed = append(removed, m)
	}
	if len(removed) == 0 {
		return nil, fmt.Errorf("model %s %w%s", name, ErrAbsent, suggest.Phrase(name, names))
	}
	return removed, nil
}

func (s *Store) remove(m Model) error {
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		file, partial := strings.CutSuffix(e.Name(), ".part")
		if !fileName.MatchString(file) || partial != m.Partial || stem(file) != stem(filepath.Base(m.Path)) {
			continue
		}
		if partial {
			if err := fetch.Discard(s.path(file)); err != nil {
				return err
			}
			continue
		}
		if err := os.Remove(s.path(file)); err != nil {
			return err
		}
		os.Remove(s.recordPath(file))
	}
	return nil
}
