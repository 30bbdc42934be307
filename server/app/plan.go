package app

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/tokenrouter/tokenrouter/models"
	"github.com/tokenrouter/tokenrouter/models/chat"
	"github.com/tokenrouter/tokenrouter/models/heads"
	"github.com/tokenrouter/tokenrouter/models/store"
	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/server/config"
)

// plan is a configuration with what its files say: everything that can be checked before weights are loaded, which takes
// long.
type plan struct {
	cfg    *config.Config
	models []planned
	heads  map[string]*heads.Head // by what routes call them: config.Route.Head
}

// planned is a model to load.
type planned struct {
	config.Model
	file     *models.Model
	context  int // longest sequence
	grammars *grammars
}

// newPlan reads the metadata of all files and checks that models and routes can be what the configuration says.
func newPlan(cfg *config.Config) (*plan, error) {
	p := &plan{cfg: cfg, heads: map[string]*heads.Head{}}
	for i, m := range cfg.Models {
		at := fmt.Sprintf("models[%d]", i)
		path, err := fileOf(m.Path)
		if err != nil {
			return nil, cfg.At(at+".path", fmt.Errorf("model %q: %w", m.Name, err))
		}
		m.Path = path
		file, err := models.Open(m.Path)
		if err != nil {
			return nil, cfg.At(at+".path", fmt.Errorf("model %q: %w", m.Name, err))
		}
		if m.ChatTemplate != "" {
			if file, err = withTemplate(file, m.ChatTemplate); err != nil {
				return nil, cfg.At(at+".chat_template", fmt.Errorf("model %q: %w", m.Name, err))
			}
		}
		info := file.Info()
		if info.Tensors == 0 {
			return nil, cfg.At(at+".path", fmt.Errorf("model %q: %s has a vocabulary but no weights", m.Name, m.Path))
		}
		context := m.Context
		switch {
		case context == 0:
			context = info.ContextLength
		case context > info.ContextLength:
			return nil, cfg.At(at+".context", fmt.Errorf("model %q: a context of %d tokens is more than the %d that %s was made for",
				m.Name, context, info.ContextLength, m.Path))
		}
		p.models = append(p.models, planned{m, file, context, newGrammars(file)})
	}
	for i, r := range cfg.Routes {
		if err := p.checkRoute(fmt.Sprintf("routes[%d]", i), &r); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// withTemplate gives a model the chat template of a file.
func withTemplate(m *models.Model, path string) (*models.Model, error) {
	source, err := readTemplate(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the chat template: %w", err)
	}
	with, err := m.WithTemplate(source)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return with, nil
}

// readTemplate reads a file that can be a template: to open a pipe would wait, and a device may have no end.
func readTemplate(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is no regular file: give the path of a file with a Jinja template", path)
	case info.Size() > chat.MaxSource:
		return "", fmt.Errorf("%s has %d bytes, a template at most %d: give the path of a file with a Jinja template",
			path, info.Size(), chat.MaxSource)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	source, err := io.ReadAll(io.LimitReader(f, chat.MaxSource+1)) // it may have grown, which compiling it refuses
	return string(source), err
}

// fileOf is the file that a model's path means.
func fileOf(path string) (string, error) {
	if name, ok := strings.CutPrefix(path, config.CataloguePrefix); ok {
		return store.File(name)
	}
	return path, nil
}

func (p *plan) checkRoute(at string, r *config.Route) error {
	a, err := router.Lookup(r.Algorithm)
	if err != nil {
		return p.cfg.At(at+".algorithm", err)
	}
	if err := router.Check(a, len(r.Models), params(r)); err != nil {
		field := ".algorithm"
		if name := router.Culprit(a, len(r.Models), params(r)); name != "" {
			field = "." + name
		}
		return p.cfg.At(at+field, err)
	}
	if err := p.checkHead(at, r, a); err != nil {
		return err
	}
	files := make([]*models.Model, len(r.Models))
	for i, name := range r.Models {
		files[i] = p.model(name).file
	}
	// Pair by pair, so that the names of the models that do not match can be said.
	for i := 1; i < len(files); i++ {
		if _, err := models.CheckRoute(files[0], files[i]); err != nil {
			return p.cfg.At(at+".models", fmt.Errorf("route %q: models %q and %q do not go together: %w", r.Name, r.Models[0], r.Models[i], err))
		}
	}
	return nil
}

// params are what a route says to its algorithm.
func params(r *config.Route) router.Params {
	return router.Params{Threshold: r.Threshold, LargeShare: r.LargeShare, Weights: r.Weights, Strategy: r.Strategy, Draft: r.Draft}
}

// model returns the planned model of that name, which the configuration's checks have made sure of.
func (p *plan) model(name string) *planned {
	i := slices.IndexFunc(p.models, func(m planned) bool { return m.Name == name })
	return &p.models[i]
}

// on lists the models on a device.
func (p *plan) on(device string) []*planned {
	var list []*planned
	for i := range p.models {
		if p.models[i].Device == device {
			list = append(list, &p.models[i])
		}
	}
	return list
}

// devices lists the devices that models are on, in the order of the models.
func (p *plan) devices() ([]config.Device, error) {
	var list []config.Device
	for _, m := range p.models {
		if slices.ContainsFunc(list, func(d config.Device) bool { return d.Name == m.Device }) {
			continue
		}
		d, ok := p.cfg.Device(m.Device)
		if !ok {
			return nil, errors.New("no device is called " + m.Device)
		}
		list = append(list, d)
	}
	return list, nil
}
