package app

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/tokenrouter/tokenrouter/server/config"
)

// reload reads the configuration again and makes it hold, as far as that goes without a restart. If anything is wrong with it all
// stays as it was.
//
// Models are loaded anew only if something about models, routes, devices or batching has changed. The new ones are loaded
// beside the old ones, which answer meanwhile and then end their requests: memory is needed for both.
func (s *server) reload(ctx context.Context, o Options) {
	log := s.log.With().Str("component", "reload").Logger()
	cfg, err := o.Configure()
	if err != nil {
		log.Error().Err(err).Msg("the configuration is not taken: everything stays as it was")
		return
	}
	if err := s.adopt(ctx, cfg, o); err != nil {
		if ctx.Err() == nil {
			log.Error().Err(err).Msg("the configuration is not taken: everything stays as it was")
		}
		return
	}
	log.Info().Msg("the configuration holds")
}

// adopt makes a configuration hold.
func (s *server) adopt(ctx context.Context, cfg *config.Config, o Options) error {
	if fixed := unchangeable(s.cfg, cfg); fixed != "" {
		s.log.Warn().Str("setting", fixed).Msg("a change of this setting needs a restart; the old one holds")
	}
	loader, err := NewLoader(cfg, o)
	if err != nil {
		return err
	}
	a := s.newAPI(cfg, loader, o)
	door, err := newDoor(cfg, a)
	if err != nil {
		return err
	}
	if (door.cert == nil) != (s.front.door.Load().cert == nil) {
		return errors.New("server.tls: to begin or to end with HTTPS needs a restart")
	}
	if sameModels(s.cfg, cfg) {
		s.engine.setIdle(time.Duration(cfg.Server.IdleUnload))
	} else {
		s.log.Info().Msg("loading the models of the new configuration")
		runtime, err := load(ctx, loader)
		if err != nil {
			return fmt.Errorf("load: %w", err)
		}
		s.targets = runtime.Targets
		s.engine.replace(runtime, loader, time.Duration(cfg.Server.IdleUnload), time.Duration(cfg.Server.RequestTimeout))
		warnShort(s.log, runtime.Targets)
	}
	a.Ready(s.targets, s.engine)
	s.front.door.Store(door)
	s.api, s.cfg = a, cfg
	return nil
}

// unchangeable names what has changed that cannot while the server runs.
func unchangeable(old, now *config.Config) string {
	switch {
	case old.Server.Listen != now.Server.Listen:
		return "server.listen"
	case old.Server.LogFormat != now.Server.LogFormat:
		return "server.log_format"
	case old.Server.LogLevel != now.Server.LogLevel:
		return "server.log_level"
	}
	return ""
}

// sameModels reports whether two configurations want the same engine.
func sameModels(a, b *config.Config) bool {
	return reflect.DeepEqual(a.Models, b.Models) && reflect.DeepEqual(a.Routes, b.Routes) &&
		reflect.DeepEqual(a.Devices, b.Devices) && reflect.DeepEqual(a.Batching, b.Batching)
}

// again loads what a loader has loaded before.
func (l *Loader) again(ctx context.Context) (*Runtime, error) {
	fresh, err := NewLoader(l.plan.cfg, l.options) // the files may have been replaced
	if err != nil {
		return nil, err
	}
	return fresh.Load(ctx)
}
