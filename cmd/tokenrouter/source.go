package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/tokenrouter/tokenrouter/server/config"
)

// source are the flags that say which models to run.
type source struct {
	config, small, large, library string
	demo                          bool
	threads                       int
}

func (s *source) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&s.config, "config", "c", "", "configuration `FILE`; default: ./tokenrouter.yaml, then ~/.config/tokenrouter/config.yaml")
	f.StringVar(&s.small, "small", "", "GGUF `FILE` of the small model, instead of a configuration; with --large")
	f.StringVar(&s.large, "large", "", "GGUF `FILE` of the large model; with --small")
	f.BoolVar(&s.demo, "demo", false, "use the pair of models that is built in; it solves word problems")
	f.StringVar(&s.library, "library", "", "native library to load, `FILE`; default: the one built in")
	f.IntVar(&s.threads, "threads", 0, "threads of the CPU device; 0: as configured, or all cores")
	cmd.MarkFlagsMutuallyExclusive("config", "small", "demo")
	cmd.MarkFlagsMutuallyExclusive("config", "large", "demo")
	cmd.MarkFlagsRequiredTogether("small", "large")
	for _, name := range []string{"small", "large"} {
		_ = cmd.MarkFlagFilename(name, "gguf") // fails only for a flag that does not exist
	}
	_ = cmd.MarkFlagFilename("config", "yaml", "yml", "json")
}

// load reads the configuration that the flags name.
func (s *source) load() (*config.Config, error) {
	if s.threads < 0 {
		return nil, errors.New("--threads: expected 0 (all cores) or more")
	}
	cfg, err := s.read()
	if err != nil {
		return nil, err
	}
	if s.threads > 0 {
		for i := range cfg.Devices {
			cfg.Devices[i].Threads = s.threads
		}
	}
	return cfg, nil
}

func (s *source) read() (*config.Config, error) {
	switch {
	case s.demo:
		return config.Demo()
	case s.small != "":
		return config.Pair(s.small, s.large)
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
