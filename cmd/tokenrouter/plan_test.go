package main

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/sched/simulate"
)

// The predictions are those of the reference table: 1923 tokens/s of the large model alone, 2008 eagerly, 3375 lazily.
func TestPlan(t *testing.T) {
	t.Parallel()
	svg := filepath.Join(t.TempDir(), "plan.svg")
	status, out, aside := shell(t, "", "plan", "--step", "2ms+0.02ms", "--step", "8ms+0.02ms", "--share", "0.1", "-n", "16", "--json", "--svg", svg)
	require.Zero(t, status, aside)
	var list []forecast
	require.NoError(t, json.Unmarshal([]byte(out), &list))
	require.Len(t, list, 1)
	f := list[0]
	require.InEpsilon(t, 1923, f.Alone, 0.02)
	require.InEpsilon(t, 2008, f.Eager.Throughput, 0.02)
	require.InEpsilon(t, 3375, f.Best.Throughput, 0.02)
	require.InDelta(t, 8, f.Best.Thresholds[1], 1.1)
	require.True(t, f.Pays)
	require.Len(t, f.Curve, 16)

	drawing, err := os.ReadFile(svg)
	require.NoError(t, err)
	texts := 0
	for d := xml.NewDecoder(strings.NewReader(string(drawing))); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "text" {
			texts++
		}
	}
	require.Greater(t, texts, 10)

	status, out, aside = shell(t, "", "plan", "--step", "17ms+1ms", "--step", "43ms+3.3ms", "--share", "0.1", "-n", "1,32")
	require.Zero(t, status, aside)
	require.Regexp(t, `(?m)^ +1 +21\.\d +39\.\d .* yes, 1\.`, out)
	require.Regexp(t, `(?m)^ +32 +21\d\.\d .* no, 0\.8`, out)

	// Published: 207.9 tokens/s for four requests at B = 3, on devices of their own with constant latencies.
	status, out, aside = shell(t, "", "plan", "--step", "6ms", "--step", "27.9ms", "--share", "0.35", "-n", "4", "--apart")
	require.Zero(t, status, aside)
	require.Regexp(t, `(?m)^  3 +20[78]\.\d +█+$`, out)
}

// The figures of the documentation are what the commands there print.
func TestDocumentedPredictions(t *testing.T) {
	t.Parallel()
	predict := func(small, large, requests, share string) forecast {
		status, out, aside := shell(t, "", "plan", "--step", small, "--step", large, "--share", share, "-n", requests, "--json")
		require.Zero(t, status, aside)
		var list []forecast
		require.NoError(t, json.Unmarshal([]byte(out), &list))
		return list[0]
	}
	text, err := os.ReadFile("../../docs/batching.md")
	require.NoError(t, err)
	rows := regexp.MustCompile(`(?m)^\| (\d+) \| (0\.\d) \| (\d+) \| (\d+) \| ([\d.]+) times \|$`).FindAllStringSubmatch(string(text), -1)
	require.Len(t, rows, 3)
	for _, row := range rows {
		f := predict("2ms+0.02ms", "8ms+0.02ms", row[1], row[2])
		eager, lazy := f.Eager.Throughput, f.Best.Throughput
		require.Equal(t, []string{fmt.Sprintf("%.0f", eager), fmt.Sprintf("%.0f", lazy), fmt.Sprintf("%.2f", lazy/eager)}, row[3:])
	}
	// concepts.md: a seventh more, half more.
	cores, gpu := predict("18ms+1.3ms", "40ms+4.5ms", "8", "0.1"), predict("2ms+0.02ms", "8ms+0.02ms", "8", "0.1")
	require.InDelta(t, 1+1.0/7, cores.Best.Throughput/cores.Eager.Throughput, 0.01)
	require.InDelta(t, 1.5, gpu.Best.Throughput/gpu.Eager.Throughput, 0.03)
}

func TestPlanErrors(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"nothing to plan":            {},
		"is no time":                 {"--step", "8", "--step", "2ms", "--share", "0.1"},
		"share is 2":                 {"--step", "8ms", "--step", "2ms", "--share", "2"},
		"give share (and back)":      {"--step", "8ms", "--step", "2ms"},
		"2 weights for 3 models":     {"--step", "8ms", "--step", "2ms", "--step", "2ms", "--weights", "0.5,0.5"},
		"--requests: 0 is not":       {"--step", "8ms", "--step", "2ms", "--share", "0.1", "-n", "0"},
		"cannot read the scenario":   {"nowhere.yaml"},
		"--share: the scenario says": {"nowhere.yaml", "--share", "0.1"},
	} {
		status, _, aside := shell(t, "", append([]string{"plan"}, args...)...)
		require.Equal(t, 1, status)
		require.Contains(t, aside, want)
	}
}

// The examples are valid, and lazy batching is the best policy in each; shortened, so that they take no time.
func TestScenarios(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../examples/scenarios/*.yaml")
	require.NoError(t, err)
	require.Len(t, files, 4)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			_, err = simulate.Parse(text)
			require.NoError(t, err)
			for _, line := range []string{"duration: 60s", "duration: 85s"} {
				text = []byte(strings.Replace(string(text), line, "duration: 10s", 1))
			}
			short := filepath.Join(t.TempDir(), "s.yaml")
			require.NoError(t, os.WriteFile(short, text, 0o600))
			status, out, aside := shell(t, "", "simulate", short, "--policy", "all", "--json")
			require.Zero(t, status, aside)
			var reports []simulate.Report
			require.NoError(t, json.Unmarshal([]byte(out), &reports))
			require.Len(t, reports, 5)
			for _, r := range reports[1:] {
				require.GreaterOrEqual(t, reports[0].Throughput, 0.99*r.Throughput, "%s %s", r.Policy, r.Order)
			}
			status, table, aside := shell(t, "", "simulate", short)
			require.Zero(t, status, aside)
			require.Contains(t, table, "lazy")
		})
	}
	file := filepath.Join(t.TempDir(), "trace.json")
	status, _, aside := shell(t, "", "simulate", "../../examples/scenarios/gpu-pair.yaml", "--trace", file)
	require.Zero(t, status, aside)
	trace, err := os.ReadFile(file)
	require.NoError(t, err)
	require.True(t, json.Valid(trace))
	require.Contains(t, string(trace), "large: decode")

	status, _, aside = shell(t, "", "simulate", files[0], "--policy", "never")
	require.Equal(t, 1, status)
	require.Contains(t, aside, `unknown batching policy "never"`)
}
