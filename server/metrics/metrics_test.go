package metrics_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/sched/simrunner"
	"github.com/tokenrouter/tokenrouter/server/metrics"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scrape returns the page and its lines by what stands before their value.
func scrape(t *testing.T, m *metrics.Metrics) (page string, values map[string]string) {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.Equal(t, 200, w.Code)
	values = make(map[string]string)
	for line := range strings.Lines(w.Body.String()) {
		line = strings.TrimSpace(line)
		if i := strings.LastIndexByte(line, ' '); i > 0 && line[0] != '#' {
			values[line[:i]] = line[i+1:]
		}
	}
	return w.Body.String(), values
}

// What was extended ahead of need counts when it has succeeded, and as used when a step says so.
func TestAhead(t *testing.T) {
	t.Parallel()
	m := metrics.New()
	o := m.Observer()
	o.Ahead(sched.AheadRecord{Model: "large", Tokens: 16})
	o.Ahead(sched.AheadRecord{Model: "large", Tokens: 32})
	o.Ahead(sched.AheadRecord{Model: "large", Tokens: 64, Err: io.ErrUnexpectedEOF})
	o.Batch(sched.BatchRecord{Model: "large", Segments: 1, Ahead: 40})
	_, values := scrape(t, m)
	require.Equal(t, "48", values[`tokenrouter_ahead_tokens_total{model="large"}`])
	require.Equal(t, "40", values[`tokenrouter_ahead_used_tokens_total{model="large"}`])
}

// Drafts count at who drafts them, and at who judges them.
func TestDrafts(t *testing.T) {
	t.Parallel()
	m := metrics.New()
	o := m.Observer()
	o.Batch(sched.BatchRecord{Model: "small", Segments: 1, Drafted: 4})
	o.Batch(sched.BatchRecord{Model: "large", Segments: 1, Accepted: 3, Rejected: 1, Committed: 4})
	_, values := scrape(t, m)
	require.Equal(t, "4", values[`tokenrouter_drafted_tokens_total{model="small"}`])
	require.Equal(t, "3", values[`tokenrouter_judged_drafts_total{model="large",verdict="accepted"}`])
	require.Equal(t, "1", values[`tokenrouter_judged_drafts_total{model="large",verdict="rejected"}`])
	require.Equal(t, "4", values[`tokenrouter_tokens_total{model="large"}`])
}

// Graphs are counted where there are any.
func TestGraphs(t *testing.T) {
	t.Parallel()
	m := metrics.New()
	m.Watch(func() sched.Snapshot {
		return sched.Snapshot{Models: []sched.ModelSnapshot{{Name: "on a GPU", Graphs: &sched.GraphCounts{Hits: 7, Misses: 2}}, {Name: "on the processor"}}}
	})
	page, values := scrape(t, m)
	require.Equal(t, "7", values[`tokenrouter_graph_steps_total{model="on a GPU",result="hit"}`])
	require.Equal(t, "2", values[`tokenrouter_graph_steps_total{model="on a GPU",result="miss"}`])
	require.NotContains(t, page, `tokenrouter_graph_steps_total{model="on the processor"`)
	require.Contains(t, page, "# TYPE tokenrouter_graph_steps_total counter")
}

// A run of one request whose every token is written by the large model: all that it does shows, as counted by hand.
func TestMetricsOfARun(t *testing.T) {
	t.Parallel()
	m := metrics.New()
	unsure := simrunner.Script{Default: router.Row{Token: 20, Entropy: 4}, Latency: time.Millisecond}
	sure := simrunner.Script{Default: router.Row{Token: 30}, Latency: time.Millisecond}
	e, err := sched.NewEngine(sched.Options{
		Models: []sched.ModelOptions{
			{Name: "small", Runner: unsure, Info: unsure.Info(1)},
			{Name: "large", Runner: sure, Info: sure.Info(1), Threshold: sched.AutoThreshold, MaxWait: sched.AutoWait},
		},
		Routes:   []sched.RouteOptions{{Name: "r", Algorithm: "r-stitch", Models: []string{"small", "large"}}},
		Policy:   sched.Lazy,
		Observer: m.Observer(),
	})
	require.NoError(t, err)
	m.Watch(e.Snapshot)
	s, err := e.Submit(t.Context(), sched.Request{Target: "r", Prompt: []int32{5, 6, 7, 8}, MaxTokens: 3})
	require.NoError(t, err)
	for err == nil {
		_, err = s.Next(t.Context())
	}
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, e.Close(t.Context()))

	page, values := scrape(t, m)
	for name, want := range map[string]string{
		// Each of the three tokens: a step of the small model, which hands over, and one of the large model. The last one ends
		// the answer there.
		`tokenrouter_tokens_total{model="large"}`:                         "3",
		`tokenrouter_tokens_total{model="small"}`:                         "0",
		`tokenrouter_token_share{model="large"}`:                          "1",
		`tokenrouter_step_requests_count{model="small"}`:                  "3",
		`tokenrouter_handoffs_total{from="small",to="large"}`:             "3",
		`tokenrouter_handoffs_total{from="large",to="small"}`:             "2",
		`tokenrouter_pending_seconds_count{model="small"}`:                "2",
		`tokenrouter_pending_seconds_count{model="large"}`:                "2",
		`tokenrouter_admission_delay_seconds_count{model="small"}`:        "1",
		`tokenrouter_appended_tokens_total{kind="prefill",model="small"}`: "4",
		`tokenrouter_appended_tokens_total{kind="prefill",model="large"}`: "4",
		`tokenrouter_appended_tokens_total{kind="resume",model="small"}`:  "2",
		`tokenrouter_appended_tokens_total{kind="resume",model="large"}`:  "2",
		// Three steps each: the first of the small one takes the request after its admission.
		`tokenrouter_wait_seconds_count{model="small",since="admission"}`: "1",
		`tokenrouter_wait_seconds_count{model="small",since="step"}`:      "2",
		`tokenrouter_wait_seconds_count{model="large",since="admission"}`: "0",
		`tokenrouter_wait_seconds_count{model="large",since="step"}`:      "3",
		`tokenrouter_extend_tokens_count{model="large"}`:                  "3",
		`tokenrouter_extend_tokens_sum{model="large"}`:                    "6",
		`tokenrouter_batch_threshold{model="large"}`:                      "1",
		`tokenrouter_routing_probability{from="small",to="large"}`:        "1",
		`tokenrouter_requests{state="live"}`:                              "0",
		`tokenrouter_kv_pages{model="large",state="free"}`:                "128",
		`tokenrouter_evictions_total{model="large"}`:                      "0",
		`tokenrouter_step_errors_total{model="large"}`:                    "0",
	} {
		require.Equal(t, want, values[name], name)
	}
	require.Contains(t, values, `tokenrouter_step_latency_estimate_seconds{model="large",part="base"}`)
	require.Contains(t, values, "go_goroutines")

	problems, err := promlint.New(strings.NewReader(page)).Lint()
	require.NoError(t, err)
	for _, p := range problems {
		require.NotContains(t, p.Metric, "tokenrouter", p.Text)
	}
}
