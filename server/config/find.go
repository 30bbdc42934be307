package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Find returns the configuration file to use when none is named: ./tokenrouter.yaml, else tokenrouter/config.yaml in the
// user's configuration directory ($XDG_CONFIG_HOME or ~/.config). The error says where it looked and what to write.
func Find() (string, error) {
	places := []string{"tokenrouter.yaml"}
	if dir, err := os.UserConfigDir(); err == nil {
		places = append(places, filepath.Join(dir, "tokenrouter", "config.yaml"))
	}
	for _, p := range places {
		switch _, err := os.Stat(p); {
		case err == nil:
			return p, nil
		case !os.IsNotExist(err):
			return "", fmt.Errorf("cannot look at the configuration: %w", err)
		}
	}
	return "", fmt.Errorf("no configuration: looked for %s. Name one with --config, or two GGUF files with --small and --large, "+
		"or the pair that is built in with --demo, or write %s:\n\n%s", strings.Join(places, " and "), places[0], Example)
}

// Example is a small complete configuration.
const Example = `models:
  - name: small
    path: small.gguf
  - name: large
    path: large.gguf
routes:
  - name: routed
    algorithm: r-stitch
    models: [small, large]
`
