package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Size is a number of bytes, written "512MiB" or "1.5 GB" in the file. KiB, MiB and GiB are powers of 1024; KB, MB and
// GB powers of 1000.
type Size int64

var sizeUnits = []struct {
	name  string
	bytes float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30},
	{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9},
	{"B", 1}, // last: the others end in B, too
}

// ParseSize reads a size.
func ParseSize(s string) (Size, error) {
	for _, u := range sizeUnits {
		number, ok := strings.CutSuffix(s, u.name)
		if !ok {
			continue
		}
		number = strings.TrimSuffix(number, " ")
		if strings.Trim(number, "0123456789.") != "" {
			break
		}
		n, err := strconv.ParseFloat(number, 64)
		if err != nil {
			break
		}
		if n *= u.bytes; n >= math.MaxInt64 {
			return 0, fmt.Errorf("size %q is too large", s)
		}
		return Size(n), nil
	}
	return 0, fmt.Errorf("size %q is not a number with a unit, such as 512MiB", s)
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Size) UnmarshalText(text []byte) (err error) {
	*s, err = ParseSize(string(text))
	return err
}

// String gives the size in the largest binary unit that divides it, "1536MiB"; it is read back as the same size.
func (s Size) String() string {
	for _, u := range []struct {
		name  string
		bytes Size
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if s != 0 && s%u.bytes == 0 {
			return strconv.FormatInt(int64(s/u.bytes), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10) + "B"
}

// Duration is a length of time, written "50ms" or "1.5h" in the file.
type Duration time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil || v < 0 {
		return fmt.Errorf("duration %q is not a number with a unit (us, ms, s, m, h) of at most %s", text,
			time.Duration(math.MaxInt64))
	}
	*d = Duration(v)
	return nil
}

// String is as of time.Duration.
func (d Duration) String() string { return time.Duration(d).String() }
