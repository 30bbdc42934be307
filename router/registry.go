package router

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

var registry = struct {
	sync.RWMutex
	algorithms map[string]Algorithm
}{algorithms: make(map[string]Algorithm)}

// Register makes an algorithm known under its name, for routes and for requests that name it. It is meant for init
// functions and the start of a program: like the registries of the standard library it panics if the algorithm is nil,
// has no name, or has the name of one that is registered. Safe for concurrent use.
func Register(a Algorithm) {
	if a == nil {
		panic("router: Register of a nil algorithm")
	}
	name := a.Name()
	if name == "" {
		panic("router: Register of an algorithm without a name")
	}
	registry.Lock()
	defer registry.Unlock()
	if _, ok := registry.algorithms[name]; ok {
		panic(fmt.Sprintf("router: algorithm %q registered twice", name))
	}
	registry.algorithms[name] = a
}

// Lookup returns the algorithm of this name; the error lists the names there are. Safe for concurrent use.
func Lookup(name string) (Algorithm, error) {
	registry.RLock()
	a, ok := registry.algorithms[name]
	registry.RUnlock()
	if !ok {
		return nil, fmt.Errorf("unknown routing algorithm %q: registered are %s", name, strings.Join(Names(), ", "))
	}
	return a, nil
}

// Names returns the names of all registered algorithms, sorted. Safe for concurrent use.
func Names() []string {
	registry.RLock()
	defer registry.RUnlock()
	return slices.Sorted(maps.Keys(registry.algorithms))
}
