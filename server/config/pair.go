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

// Names of the pair that the program carries, and of the route that it makes.
const (
	DemoRoute = "demo"
	demoSmall = "demo-small"
	demoLarge = "demo-large"
)

// demoThreshold is the largest of those tried that keeps 99 % of the large model's accuracy on validation problems, with
// 95 % confidence (models/pair/MODEL.md).
const demoThreshold = 0.025

// Demo makes the configuration of the pair that the program carries, which needs no file and no network.
func Demo() (*Config, error) {
	return build(map[string]any{
		"models": []any{
			map[string]any{"name": demoSmall, "path": CataloguePrefix + demoSmall},
			map[string]any{"name": demoLarge, "path": CataloguePrefix + demoLarge},
		},
		"routes": []any{
			map[string]any{"name": DemoRoute, "algorithm": "r-stitch", "models": []any{demoSmall, demoLarge}, "threshold": demoThreshold},
		},
	}, source{})
}

// nameOf makes a model name of a file name; fallback when nothing of it can be used.
func nameOf(path, fallback string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".gguf")
	name = strings.TrimLeft(notInNames.ReplaceAllString(name, "-"), "._:/-")
	if name == "" {
		return fallback
	}
	return name[:min(len(name), 128)]
}
