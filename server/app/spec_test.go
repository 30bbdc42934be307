package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/internal/tinygguf"
	"github.com/tokenrouter/tokenrouter/models"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/api"
)

// instant is an engine that answers at once, with nothing, or refuses.
type instant struct{ refusal error }

func (e instant) Submit(context.Context, sched.Request) (api.Stream, error) {
	return &nothing{}, e.refusal
}

func (instant) Snapshot() sched.Snapshot { return sched.Snapshot{} }

func (e instant) Load(context.Context, string) error { return nil }

func (e instant) Unload(context.Context, string) error {
	if e.refusal != nil {
		return &sched.BusyError{Model: "m"}
	}
	return nil
}

type nothing struct{ over bool }

func (s *nothing) Next(context.Context) (sched.Event, error) {
	if s.over {
		return sched.Event{}, io.EOF
	}
	s.over = true
	return sched.Event{Finish: sched.FinishStop}, nil
}

func (*nothing) Summary() sched.Summary { return sched.Summary{} }

// The OpenAPI document says with which statuses each operation answers: those that can be brought about are those that it names.
func TestDocumentedStatuses(t *testing.T) {
	m, err := models.Open(tinygguf.Temp(t, tinygguf.Options{}))
	require.NoError(t, err)
	target := api.Target{Name: "m", Algorithm: "single", Models: []string{"m"}, Context: 512, Vocab: m.Tokenizer().VocabSize(), Text: textOf(m), Grammars: newGrammars(m)}
	route := target
	route.Name, route.Models = "several", []string{"m", "n"}
	serve := func(e api.Engine, o api.Options) string {
		o.Log = zerolog.Nop()
		a := api.New(o)
		if e != nil {
			a.Ready([]api.Target{target, route}, e)
		}
		d, err := newDoor(parse(t, "models: [{name: a, path: a.gguf}]\nserver: {api_keys: [secret-one]}"), a)
		require.NoError(t, err)
		f := &front{log: zerolog.Nop()}
		f.door.Store(d)
		site := httptest.NewServer(f)
		t.Cleanup(site.Close)
		return site.URL
	}
	ready := serve(instant{}, api.Options{})
	small := serve(instant{}, api.Options{MaxBody: 4})
	hasty := serve(instant{}, api.Options{BodyTimeout: 20 * time.Millisecond})
	loading := serve(nil, api.Options{})
	full := serve(instant{&sched.QueueFullError{}}, api.Options{})
	greedy := serve(instant{&sched.QueueFullError{Own: true}}, api.Options{})

	bodies := map[string]string{
		"/v1/chat/completions": `{"model":%q,"messages":[{"role":"user","content":"a"}]}`, "/v1/completions": `{"model":%q,"prompt":"a"}`,
		"/tokenize": `{"model":%q,"content":"a"}`, "/detokenize": `{"model":%q,"tokens":[1]}`, "/apply-template": `{"model":%q,"messages":[{"role":"user","content":"a"}]}`,
	}
	ask := func(site, method, path, body string, header ...string) int {
		var in io.Reader = strings.NewReader(body)
		if body == "stalls" {
			r, w := io.Pipe()
			defer w.Close()
			in = r
		}
		q, err := http.NewRequestWithContext(t.Context(), method, site+path, in)
		require.NoError(t, err)
		q.Header.Set("Authorization", "Bearer secret-one")
		for i := 0; i < len(header); i += 2 {
			q.Header.Set(header[i], header[i+1])
		}
		a, err := http.DefaultClient.Do(q)
		require.NoError(t, err)
		defer a.Body.Close()
		return a.StatusCode
	}

	a, err := http.Get(ready + "/openapi.json")
	require.NoError(t, err)
	require.NoError(t, a.Body.Close())
	require.Equal(t, 401, a.StatusCode)
	var doc struct {
		Paths map[string]map[string]struct {
			Responses   map[string]any
			RequestBody any
			Security    *[]any
		}
	}
	d := api.New(api.Options{})
	w := httptest.NewRecorder()
	d.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/openapi.json", http.NoBody))
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &doc))
	require.NotEmpty(t, doc.Paths)
	for path, methods := range doc.Paths {
		for method, op := range methods {
			method, there, gone := strings.ToUpper(method), strings.ReplaceAll(path, "{model}", "m"), strings.ReplaceAll(path, "{model}", "none")
			body, missing := "", ""
			if op.RequestBody != nil {
				require.Contains(t, bodies, path)
				body, missing = fmt.Sprintf(bodies[path], "m"), fmt.Sprintf(bodies[path], "none")
			}
			seen := map[string]bool{}
			see := func(status int) { seen[fmt.Sprint(status)] = true }
			see(ask(ready, method, there, body))
			see(ask(ready, method, gone, missing))
			see(ask(ready, method, strings.ReplaceAll(path, "{model}", "several"), body))
			see(ask(ready, method, there, body, "Authorization", ""))
			see(ask(ready, method, there, body, "Origin", "https://elsewhere.example"))
			see(ask(ready, http.MethodDelete, there, ""))
			see(ask(loading, method, there, body))
			see(ask(full, method, there, body))
			see(ask(greedy, method, there, body))
			if op.RequestBody != nil {
				see(ask(ready, method, there, "{"))
				see(ask(ready, method, there, body, "Content-Encoding", "gzip"))
				see(ask(small, method, there, body))
				see(ask(hasty, method, there, "stalls"))
			}
			want := maps.Clone(op.Responses)
			delete(want, "500") // what nobody knows how to bring about
			delete(want, "504") // of an answer that takes long: tests of the API
			require.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(seen)), "%s %s", method, path)
			require.Equal(t, seen["401"], op.Security == nil, "%s %s: where a key is needed", method, path)
		}
	}
}
