package config

import (
	"path/filepath"
	"regexp"
	"strings"
)

// PairRoute is the name of the route that [Pair] makes.
const PairRoute = "routed"

// Pair makes the configuration of two GGUF files that share the work by the r-stitch algorithm, the small one at the
// entry, with defaults for all else. The models are named after their files.
func Pair(small, large string) (*Config, error) {
	names := [2]string{nameOf(small, "small"), nameOf(large, "large")}
	if names[0] == names[1] || names[0] == PairRoute || names[1] == PairRoute {
		names = [2]string{"small", "large"}
	}
	return build(map[string]any{
		"models": []any{
			map[string]any{"name": names[0], "path": small},
			map[string]any{"name": names[1], "path": large},
		},
		"routes": []any{
			map[string]any{"name": PairRoute, "algorithm": "r-stitch", "models": []any{names[0], names[1]}},
		},
	}, source{})
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9._:/-]+`)

// nameOf makes a model name of a file name; fallback when nothing of it can be used.
func nameOf(path, fallback string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".gguf")
	name = strings.TrimLeft(notInNames.ReplaceAllString(name, "-"), "._:/-")
	if name == "" {
		return fallback
	}
	return name[:min(len(name), 128)]
}
