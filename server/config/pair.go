package config

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/tokenrouter/tokenrouter/internal/suggest"
	"github.com/tokenrouter/tokenrouter/models/catalogue"
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

// Names of the pair that the program carries, and of the route that it makes. A learned algorithm has a route of its own, since a
// request that names an algorithm brings no head: demo-citer, demo-co-llm, demo-r2r, like their heads in the catalogue.
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
	pair := []any{demoSmall, demoLarge}
	routes := []any{map[string]any{"name": DemoRoute, "algorithm": "r-stitch", "models": pair, "threshold": demoThreshold}}
	for _, algorithm := range []string{"citer", "co-llm", "r2r"} {
		name := DemoRoute + "-" + algorithm
		routes = append(routes, map[string]any{"name": name, "algorithm": algorithm, "models": pair, "head": CataloguePrefix + name})
	}
	return build(map[string]any{
		"models": []any{
			map[string]any{"name": demoSmall, "path": CataloguePrefix + demoSmall},
			map[string]any{"name": demoLarge, "path": CataloguePrefix + demoLarge},
		},
		"routes": routes,
	}, source{})
}

// CataloguePair makes the configuration of a pair of the catalogue, or of the pair that the program carries (DemoRoute). The
// route is named after the pair, and the cache has room for [catalogue.CacheTokens] tokens.
func CataloguePair(name string) (*Config, error) {
	if name == DemoRoute {
		return Demo()
	}
	p := catalogue.FindPair(name)
	if p == nil {
		names := append(catalogue.PairNames(), DemoRoute)
		return nil, fmt.Errorf("the catalogue has no pair called %q%s; there are: %s", name, suggest.Phrase(name, names), strings.Join(names, ", "))
	}
	cache := max(p.CacheBytes(), 1<<30) // the default of kv_memory
	return build(map[string]any{
		"models": []any{
			map[string]any{"name": p.Models[0], "path": CataloguePrefix + p.Models[0]},
			map[string]any{"name": p.Models[1], "path": CataloguePrefix + p.Models[1]},
		},
		"routes": []any{
			map[string]any{"name": p.Name, "algorithm": "r-stitch", "models": []any{p.Models[0], p.Models[1]}},
		},
		"devices": []any{map[string]any{"name": defaultDevice, "kv_memory": fmt.Sprintf("%dMiB", (cache+1<<20-1)>>20)}},
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
