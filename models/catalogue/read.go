package catalogue

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"

	"github.com/tokenrouter/tokenrouter/internal/suggest"
)

// Model is a model that can be downloaded.
type Model struct {
	Name         string `yaml:"name" json:"name"`
	Source       string `yaml:"source" json:"source"`           // hf:OWNER/REPO/FILE or a URL
	Bytes        int64  `yaml:"bytes" json:"bytes,omitempty"`   // of the file; 0: not on record
	SHA256       string `yaml:"sha256" json:"sha256,omitempty"` // "": not on record
	Quantization string `yaml:"quantization" json:"quantization"`
	Parameters   int64  `yaml:"parameters" json:"parameters"`   // in the file, embeddings included
	Active       int64  `yaml:"active" json:"active,omitempty"` // of them, those that a token goes through; 0: all
	Layers       int    `yaml:"layers" json:"layers"`
	KVHeads      int    `yaml:"kv_heads" json:"kv_heads"`
	HeadDim      int    `yaml:"head_dim" json:"head_dim"`
	Context      int    `yaml:"context" json:"context"` // tokens
	License      string `yaml:"license" json:"license"`
}

// Pair are two models that go together.
type Pair struct {
	Name   string    `yaml:"name" json:"name"`
	Models [2]string `yaml:"models" json:"models"` // the small one first
	About  string    `yaml:"about" json:"about"`
}

// File is the name of the model's file.
func (m *Model) File() string { return m.Source[strings.LastIndexByte(m.Source, '/')+1:] }

//go:embed catalogue.yaml
var text []byte

type contents struct {
	Models []Model `yaml:"models"`
	Pairs  []Pair  `yaml:"pairs"`
}

var read = sync.OnceValue(func() *contents {
	c := &contents{}
	if err := yaml.UnmarshalWithOptions(text, c, yaml.Strict()); err != nil {
		panic("catalogue.yaml: " + err.Error()) // of a file that the program carries: a test reads it
	}
	return c
})

// Models lists the models that can be downloaded. The caller may not change it.
func Models() []Model { return read().Models }

// Pairs lists the pairs of such models. The caller may not change it.
func Pairs() []Pair { return read().Pairs }

// Find returns the model of that name; nil if there is none.
func Find(name string) *Model {
	i := slices.IndexFunc(Models(), func(m Model) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	return &Models()[i]
}

// FindPair returns the pair of that name; nil if there is none.
func FindPair(name string) *Pair {
	i := slices.IndexFunc(Pairs(), func(p Pair) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &Pairs()[i]
}

// PairNames lists the names of all pairs.
func PairNames() []string {
	names := make([]string, len(Pairs()))
	for i, p := range Pairs() {
		names[i] = p.Name
	}
	return names
}

// ModelNames lists the names of all models that can be downloaded.
func ModelNames() []string {
	names := make([]string, len(Models()))
	for i, m := range Models() {
		names[i] = m.Name
	}
	return names
}

// LookUp returns what a name means: the models of a pair, or one model. The error lists what there is.
func LookUp(name string) ([]*Model, error) {
	if m := Find(name); m != nil {
		return []*Model{m}, nil
	}
	if p := FindPair(name); p != nil {
		return []*Model{Find(p.Models[0]), Find(p.Models[1])}, nil
	}
	const no = "the catalogue has no model or pair called %q"
	if meant := suggest.Phrase(name, append(ModelNames(), PairNames()...)); meant != "" {
		return nil, fmt.Errorf(no+"%s tokenrouter list --all shows what there is", name, meant)
	}
	return nil, fmt.Errorf(no+"; it has the models %s, and the pairs %s", name, strings.Join(ModelNames(), ", "), strings.Join(PairNames(), ", "))
}
