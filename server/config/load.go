package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Load reads the configuration file at path. Paths in it are relative to the file's directory; a leading ~/ is
// the user's home.
func Load(path string) (*Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the configuration: %w", err)
	}
	return Parse(path, text)
}

// Parse reads a configuration from text. The file name is used in errors and to resolve model paths; it may be "".
func Parse(file string, text []byte) (*Config, error) {
	tree, src, err := parse(file, text)
	if err != nil {
		return nil, err
	}
	if tree == nil {
		return nil, &Error{File: file, Problems: []Problem{{Message: "is empty; it needs at least `models`"}}}
	}
	return build(tree, src)
}

// build turns a plain tree into a configuration.
func build(tree any, src source) (*Config, error) {
	if problems := validate(tree, src); len(problems) > 0 {
		return nil, failure(src.file, problems)
	}
	tree = fill(tree, compiled())
	completeDevices(tree)
	c := &Config{}
	// The tree has the shape that the schema allows; JSON is the plainest way from there into typed fields. What can
	// still fail are the units, whose range a pattern cannot express.
	text, err := json.Marshal(tree)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	if err := json.Unmarshal(text, c); err != nil {
		return nil, &Error{File: src.file, Problems: []Problem{{Message: err.Error()}}}
	}
	c.source = src
	if err := addDevices(c); err != nil {
		return nil, err
	}
	if err := failure(src.file, check(c)); err != nil {
		return nil, err
	}
	for i := range c.Models {
		m := &c.Models[i]
		if !strings.HasPrefix(m.Path, CataloguePrefix) {
			m.Path = resolve(src.file, m.Path)
		}
		if m.ChatTemplate != "" {
			m.ChatTemplate = resolve(src.file, m.ChatTemplate)
		}
	}
	for i := range c.Routes {
		if r := &c.Routes[i]; r.Head != "" && !strings.HasPrefix(r.Head, CataloguePrefix) {
			r.Head = resolve(src.file, r.Head)
		}
	}
	if s := &c.Server; s.APIKeyFile != "" {
		s.APIKeyFile = resolve(src.file, s.APIKeyFile)
	}
	if t := c.Server.TLS; t != nil {
		t.Cert, t.Key = resolve(src.file, t.Cert), resolve(src.file, t.Key)
	}
	return c, nil
}

// CataloguePrefix of a model's path, or of a route's head, stands before the name of one of the catalogue.
const CataloguePrefix = "catalogue:"

// resolve makes a path of the configuration usable from the working directory.
func resolve(file, path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	if file == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(file), path)
}
