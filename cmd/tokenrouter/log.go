package main

import (
	"fmt"
	"io"
	"time"

	"github.com/rs/zerolog"
)

// newLog makes the logger of a command: JSON, or text when a person looks on or asks for it. Level and format have been
// checked with the configuration.
func newLog(s *screen, level, format string) (zerolog.Logger, error) {
	l, err := zerolog.ParseLevel(level)
	if err != nil || l < zerolog.DebugLevel || l > zerolog.ErrorLevel {
		return zerolog.Nop(), fmt.Errorf("--log-level: %q is not one of debug, info, warn, error", level)
	}
	w := io.Writer(s)
	if format == "text" || format == "auto" && isTerminal(s.out) {
		w = zerolog.ConsoleWriter{Out: s, NoColor: !wantsColour(s.out, false), TimeFormat: time.TimeOnly}
	}
	return zerolog.New(w).Level(l).With().Timestamp().Logger(), nil
}
