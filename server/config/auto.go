package config

import (
	"encoding/json"
	"fmt"
	"time"
)

// Auto in place of a threshold or a time means: as the engine finds best while it runs.
const Auto = -1

// auto is how it is written.
const auto = "auto"

// Thresholds are numbers of requests by model name, or Auto. In the file also "auto", for all models.
type Thresholds map[string]int

// UnmarshalJSON implements json.Unmarshaler.
func (t *Thresholds) UnmarshalJSON(text []byte) error {
	*t = Thresholds{}
	var all string
	if json.Unmarshal(text, &all) == nil && all == auto {
		return nil
	}
	var models map[string]any
	if err := json.Unmarshal(text, &models); err != nil {
		return fmt.Errorf("thresholds: expected auto or a mapping: %w", err)
	}
	for name, v := range models {
		switch v := v.(type) {
		case float64:
			(*t)[name] = int(v)
		default:
			(*t)[name] = Auto
		}
	}
	return nil
}

// Wait is a length of time, or Auto; written "50ms" or "auto" in the file.
type Wait time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (w *Wait) UnmarshalText(text []byte) error {
	if string(text) == auto {
		*w = Auto
		return nil
	}
	return (*Duration)(w).UnmarshalText(text)
}

// String is what is read back as the same.
func (w Wait) String() string {
	if w == Auto {
		return auto
	}
	return Duration(w).String()
}

// Budget is a number of bytes, or Auto; written "2GiB" or "auto" in the file.
type Budget int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *Budget) UnmarshalText(text []byte) error {
	if string(text) == auto {
		*b = Auto
		return nil
	}
	return (*Size)(b).UnmarshalText(text)
}

// String is what is read back as the same.
func (b Budget) String() string {
	if b == Auto {
		return auto
	}
	return Size(b).String()
}
