package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tokenrouter/tokenrouter/models/catalogue"
	"github.com/tokenrouter/tokenrouter/models/store"
	"github.com/tokenrouter/tokenrouter/server/config"
)

// source are the flags that say which models to run.
type source struct {
	config, small, large, pair   string
	library, cudaLibrary, device string
	demo                         bool
	threads                      int
}

func (s *source) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&s.config, "config", "c", "", "configuration `FILE`; default: ./tokenrouter.yaml, then ~/.config/tokenrouter/config.yaml")
	f.StringVar(&s.small, "small", "", "GGUF `FILE` of the small model, or the name of one that was pulled, instead of a configuration; with --large")
	f.StringVar(&s.large, "large", "", "GGUF `FILE` of the large model, or the name of one that was pulled; with --small")
	f.StringVar(&s.pair, "pair", "", "`NAME` of a pair of the catalogue that was pulled; tokenrouter list --all shows them")
	f.BoolVar(&s.demo, "demo", false, "use the pair of models that is built in; it solves word problems")
	addLibraryFlags(cmd, &s.library, &s.cudaLibrary)
	f.StringVar(&s.device, "device", "", "`DEVICE` of all models: cpu, cuda, cuda:1, or one of the configuration; default: as configured, or cpu. tokenrouter devices lists them")
	f.IntVar(&s.threads, "threads", 0, "threads of the CPU device; 0: as configured, or all cores")
	for _, name := range []string{"small", "large"} {
		_ = cmd.MarkFlagFilename(name, "gguf") // fails only for a flag that does not exist
	}
	_ = cmd.RegisterFlagCompletionFunc("pair", cobra.FixedCompletions(append(catalogue.PairNames(), config.DemoRoute), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.MarkFlagFilename("config", "yaml", "yml", "json")
}

// load reads the configuration that the flags name.
func (s *source) load() (*config.Config, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if s.threads < 0 {
		return nil, fmt.Errorf("--threads: expected 0 (all cores) or more, found %d", s.threads)
	}
	cfg, err := s.read()
	if err != nil {
		return nil, err
	}
	if s.device != "" {
		if err := cfg.Move(s.device); err != nil {
			return nil, fmt.Errorf("--device: %w", err)
		}
	}
	if s.threads > 0 {
		for i := range cfg.Devices {
			cfg.Devices[i].Threads = s.threads
		}
	}
	return cfg, nil
}

// check says which flags do not go together.
func (s *source) check() error {
	const ways = "give one of --config, --pair, --demo, or --small with --large"
	var given []string
	for _, f := range []struct {
		name string
		set  bool
	}{{"--config", s.config != ""}, {"--pair", s.pair != ""}, {"--demo", s.demo}, {"--small", s.small != ""}, {"--large", s.large != ""}} {
		if f.set {
			given = append(given, f.name)
		}
	}
	files := s.small != "" || s.large != ""
	switch {
	case len(given) > 1 && !(files && len(given) == 2 && s.small != "" && s.large != ""):
		return fmt.Errorf("%s are given, and each says which models to run: %s", strings.Join(given, ", "), ways)
	case files && s.large == "":
		return errors.New("--small is given without --large: give both, or one of --config, --pair, --demo")
	case files && s.small == "":
		return errors.New("--large is given without --small: give both, or one of --config, --pair, --demo")
	}
	return nil
}

func (s *source) read() (*config.Config, error) {
	switch {
	case s.demo:
		return config.Demo()
	case s.pair != "":
		return pulledPair(s.pair)
	case s.small != "":
		small, err := modelFile(s.small)
		if err != nil {
			return nil, fmt.Errorf("--small: %w", err)
		}
		large, err := modelFile(s.large)
		if err != nil {
			return nil, fmt.Errorf("--large: %w", err)
		}
		return config.Pair(small, large)
	}
	file := s.config
	if file == "" {
		var err error
		if file, err = config.Find(); err != nil {
			return nil, err
		}
	}
	return config.Load(file)
}

// pulledPair is the configuration of a pair of the catalogue, if its models are here.
func pulledPair(name string) (*config.Config, error) {
	cfg, err := config.CataloguePair(name)
	if err != nil {
		return nil, fmt.Errorf("--pair: %w", err)
	}
	if p := catalogue.FindPair(name); p != nil {
		for _, model := range p.Models {
			if _, err := store.File(model); errors.Is(err, store.ErrAbsent) {
				return nil, fmt.Errorf("--pair: model %s %w; get what is missing of the pair with: tokenrouter pull %s", model, store.ErrAbsent, name)
			}
		}
	}
	return cfg, nil
}

// modelFile is the file that a flag names: one at that path, or else a model that was pulled.
func modelFile(name string) (string, error) {
	if _, err := os.Stat(name); err == nil || filepath.Base(name) != name || filepath.Ext(name) == ".gguf" {
		return name, nil // what is wrong with a path is said when it is opened
	}
	return store.File(name)
}
