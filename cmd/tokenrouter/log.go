package main

import (
	"fmt"
	"io"
	"time"

	"github.com/rs/zerolog"
)

// newLog makes the logger of a command: JSON, or text when a person looks on or asks for it. Level and format have been
// checked with the configuration.
func newLog(w io.Writer, level, format string) (zerolog.Logger, error) {
	l, err := zerolog.ParseLevel(level)
	if err != nil || l < zerolog.DebugLevel || l > zerolog.ErrorLevel {
		return zerolog.Nop(), fmt.Errorf("--log-level: %q is not one of debug, info, warn, error", level)
	}
	if format == "text" || format == "auto" && isTerminal(w) {
		w = zerolog.ConsoleWriter{Out: w, NoColor: !wantsColour(w, false), TimeFormat: time.TimeOnly}
	}
	return zerolog.New(w).Level(l).With().Timestamp().Logger(), nil
}
