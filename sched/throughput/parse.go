package throughput

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// ParseLatency reads a latency as people write it: "8ms" for steps that all take as long, "8ms+0.02ms" for a step and each of
// its rows, or times at numbers of rows, "1:8.1ms 16:8.4ms 64:9.9ms", between which it is linear.
func ParseLatency(text string) (Latency, error) {
	latency, err := parseLatency(strings.TrimSpace(text))
	if err != nil {
		return nil, fmt.Errorf("latency %q: %w; write it as 8ms, 8ms+0.02ms (a step and each row), or 1:8ms 16:9ms (rows:time)", text, err)
	}
	return latency, nil
}

func parseLatency(text string) (Latency, error) {
	if strings.Contains(text, ":") {
		byRows := make(map[float64]float64)
		for _, field := range strings.Fields(text) {
			rows, seconds, _ := strings.Cut(field, ":")
			n, err := strconv.ParseFloat(rows, 64)
			if err != nil {
				return nil, fmt.Errorf("%q is no number of rows", rows)
			}
			if _, twice := byRows[n]; twice {
				return nil, fmt.Errorf("%g rows are given twice", n)
			}
			if byRows[n], err = parseSeconds(seconds); err != nil {
				return nil, err
			}
		}
		return NewTable(byRows)
	}
	base, perRow, sum := strings.Cut(text, "+")
	a := Affine{}
	var err error
	if a.Base, err = parseSeconds(base); err != nil {
		return nil, err
	}
	if sum {
		if a.PerRow, err = parseSeconds(perRow); err != nil {
			return nil, err
		}
	}
	if !(a.Step(1, 1) > 0) {
		return nil, fmt.Errorf("a step takes %g s, which is no time", a.Step(1, 1))
	}
	return a, nil
}

// parseSeconds reads a duration. Unlike time.ParseDuration it keeps fractions of a nanosecond.
func parseSeconds(text string) (float64, error) {
	text = strings.TrimSpace(text)
	for _, unit := range []struct {
		name    string
		seconds float64
	}{{"ms", 1e-3}, {"us", 1e-6}, {"µs", 1e-6}, {"ns", 1e-9}, {"s", 1}} {
		number, ok := strings.CutSuffix(text, unit.name)
		if !ok {
			continue
		}
		x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(x >= 0) || math.IsInf(x, 0) || x*unit.seconds > (1000*time.Hour).Seconds() {
			break
		}
		return x * unit.seconds, nil
	}
	return 0, fmt.Errorf("%q is no time such as 8ms or 0.5s", text)
}
