package exactness

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/models"
	"github.com/tokenrouter/tokenrouter/models/tokenizer"
	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/server/app"
	"github.com/tokenrouter/tokenrouter/server/config"
	"github.com/tokenrouter/tokenrouter/tests/internal/realmodels"
)

// member is a model of a lineup.
type member struct{ name, path string }

// lineup is one or two models, the entry first, and what the test must know of them. Two are routed by R-Stitch, if nothing else is
// said.
type lineup struct {
	members []member
	routing map[string]any // algorithm and parameters of the route
	context int            // of each model; 0: 1024
	endIDs  []int32        // the union over all
}

func newLineup(t *testing.T, members ...member) lineup {
	t.Helper()
	l := lineup{members: members}
	for _, member := range members {
		m, err := models.Open(member.path)
		require.NoError(t, err)
		l.endIDs = append(l.endIDs, m.EndIDs()...)
	}
	return l
}

// real are models of package realmodels.
func real(t *testing.T, names ...string) lineup {
	t.Helper()
	var members []member
	for _, name := range names {
		members = append(members, member{name, realmodels.Path(t, name)})
	}
	return newLineup(t, members...)
}

func (l lineup) names() (names []string) {
	for _, m := range l.members {
		names = append(names, m.name)
	}
	return names
}

// target is what a client asks for: the route, or the one model.
func (l lineup) target() string {
	if len(l.members) == 1 {
		return l.members[0].name
	}
	return routeName
}

// tokenized reads the prompts as the entry's tokens.
func tokenized(t *testing.T, l lineup) [][]int32 {
	t.Helper()
	m, err := models.Open(l.members[0].path)
	require.NoError(t, err)
	var prompts [][]int32
	for _, text := range readPrompts(t) {
		prompts = append(prompts, m.Tokenizer().Encode(text, tokenizer.Options{ParseSpecial: true}))
	}
	return prompts
}

const routeName = "routed"

// site is a running server, as the serve command runs it.
type site struct {
	lineup  lineup
	url     string
	journal *journal
	stop    context.CancelFunc
	ended   chan error
}

// serve starts a server on the lineup and waits until it is ready.
func serve(t *testing.T, l lineup, batching, chunk int) *site {
	t.Helper()
	// The small model first: so it steps while requests are at the large one.
	policy := map[string]any{"policy": "eager", "order": "small-first", "prefill_chunk": chunk}
	if batching > 1 {
		policy["policy"] = "lazy"
		delete(policy, "order")
		thresholds := make(map[string]int)
		for _, name := range l.names() {
			thresholds[name] = batching
		}
		policy["threshold"] = thresholds
		policy["max_wait"] = "5s" // long, so that it is the threshold that decides
	}
	var members, routes []any
	for _, m := range l.members {
		members = append(members, map[string]any{"name": m.name, "path": m.path, "context": cmp.Or(l.context, 1024)})
	}
	if len(l.members) > 1 {
		route := map[string]any{"name": routeName, "models": l.names(), "algorithm": router.RStitchName, "threshold": threshold}
		if l.routing != nil {
			delete(route, "threshold")
			maps.Copy(route, l.routing)
		}
		routes = append(routes, route)
	}
	text, err := json.Marshal(map[string]any{
		"models":   members,
		"routes":   routes,
		"devices":  []any{map[string]any{"name": "cpu", "kv_memory": "768MiB"}},
		"batching": policy,
		"server":   map[string]any{"listen": "127.0.0.1:0"},
	})
	require.NoError(t, err)
	cfg, err := config.Parse(filepath.Join(t.TempDir(), "exactness.yaml"), text) // JSON is YAML
	require.NoError(t, err)

	ctx, cancel := context.WithCancel(context.Background())
	s := &site{lineup: l, journal: &journal{}, stop: cancel, ended: make(chan error, 1)}
	s.journal.reset()
	ready := make(chan struct{})
	options := app.Options{
		Log: zerolog.Nop(), Version: "test", Observer: s.journal.observer(),
		Listening: func(address string) { s.url = "http://" + address },
		Ready:     func(*app.Runtime) { close(ready) },
	}
	go func() { s.ended <- app.Serve(ctx, cfg, options) }()
	select {
	case <-ready:
	case err := <-s.ended:
		cancel()
		require.NoError(t, err)
		t.Fatal("the server ended before it was ready")
	}
	return s
}

// close stops the server and checks that it ended well.
func (s *site) close(t *testing.T) {
	t.Helper()
	http.DefaultClient.CloseIdleConnections()
	s.stop()
	select {
	case err := <-s.ended:
		require.NoError(t, err)
	case <-time.After(time.Minute):
		t.Fatal("the server did not end")
	}
}
