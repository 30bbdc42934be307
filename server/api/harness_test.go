package api

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tokenrouter/tokenrouter/internal/lockedbuf"
	"github.com/tokenrouter/tokenrouter/models/chat"
	"github.com/tokenrouter/tokenrouter/models/grammar"
	"github.com/tokenrouter/tokenrouter/models/output"
	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/sched/simrunner"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// vocab is how many ids the test's targets have.
const vocab = 500

// bytesText is a tokenizer for tests: a byte of text is token 16 + byte, ids below 4 are special; pieces of tokens are
// those of the simulated models. Of a conversation it makes the texts one after another, each behind a token 3.
type bytesText struct {
	simrunner.Text
	err   error // of Prompt
	style output.Style
}

func (t bytesText) Style() output.Style { return t.style }

// checker compiles grammars over bytes.
type checker struct{}

func (checker) Check(_ context.Context, source string) error {
	v := grammar.NewVocabulary(256, func(id int32) string { return string([]byte{byte(id)}) }, nil)
	_, err := grammar.Compile(v, source)
	return err
}

func (t bytesText) Encode(text string) []int32 {
	ids := []int32{}
	for i := range len(text) {
		ids = append(ids, 16+int32(text[i]))
	}
	return ids
}

// AtLeast is less than what Encode makes, as with any tokenizer: four bytes a token.
func (t bytesText) AtLeast(bytes int) int { return bytes / 4 }

func (t bytesText) Prompt(r chat.Request) ([]int32, error) {
	var ids []int32
	for _, m := range r.Messages {
		ids = append(ids, 3)
		for _, p := range m.Content {
			ids = append(ids, t.Encode(p.Text)...)
		}
	}
	return ids, t.err
}

func (t bytesText) Tokenize(text string, parse, add bool) []int32 {
	ids := t.Encode(text)
	if parse && text == "<s>" {
		ids = []int32{1}
	}
	if add {
		ids = append([]int32{1}, ids...)
	}
	return ids
}

func (t bytesText) Decode(ids []int32) (string, error) {
	text := ""
	for _, id := range ids {
		text += t.Piece(id)
	}
	return text, nil
}

func (t bytesText) Render(r chat.Request) (string, error) {
	text := ""
	for _, m := range r.Messages {
		text += "<" + m.Role + ">" + m.Content.String()
	}
	if !r.NoGenerationPrompt {
		text += "<assistant>"
	}
	return text, t.err
}

var theText = bytesText{Text: simrunner.Text{Special: 4}}

var created = time.Unix(1_700_000_000, 0)

// targets are a route of two models, and each alone.
func targets() []Target {
	threshold := 0.5
	return []Target{
		{Name: "pair", Algorithm: "r-stitch", Params: router.Params{Threshold: &threshold}, Models: []string{"small", "large"},
			Context: 1024, Vocab: vocab, Created: created, Fingerprint: "fp_pair", Text: theText, Grammars: checker{}},
		{Name: "small", Algorithm: "single", Models: []string{"small"}, Context: 2048, Capacity: 1500, Vocab: vocab, Created: created, Fingerprint: "fp_small", Text: theText, Grammars: checker{}},
		{Name: "org/large", Algorithm: "single", Models: []string{"large"}, Context: 1024, Vocab: vocab, Created: created, Fingerprint: "fp_large", Text: theText, Grammars: checker{}},
	}
}

// script is an engine that answers every request with the same events, and remembers what it was asked. After the last
// event of a script without an end it waits for the cancellation.
type script struct {
	events  []sched.Event
	summary sched.Summary
	refuse  error

	mu       sync.Mutex
	requests []sched.Request
	ended    sync.WaitGroup // counts the requests whose context is not done
}

func (s *script) Submit(ctx context.Context, r sched.Request) (Stream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	if s.refuse != nil {
		return nil, s.refuse
	}
	s.ended.Add(1)
	context.AfterFunc(ctx, s.ended.Done)
	return &scripted{script: s, left: s.events}, nil
}

func (s *script) Snapshot() sched.Snapshot {
	return sched.Snapshot{Policy: sched.Lazy, Queue: 1, Live: 2, Devices: []sched.DeviceSnapshot{{Name: "gpu", Concurrent: true, Models: []string{"small", "org/large"}}}, Models: []sched.ModelSnapshot{
		{Name: "small", Live: 2, Running: 1, Pending: 1, Pages: 64, PageTokens: 32, FreePages: 48, Cached: 16, Steps: 10, Batch: 1, Requests: 15, Tokens: 12,
			Threshold: 1, Planned: 1, Latency: sched.LatencySnapshot{Known: true, Base: 0.001, PerRequest: 0.002, PerRow: 0.003},
			Routing: map[string]float64{"small": 0.75, "org/large": 0.25}, Share: 0.75},
		{Name: "org/large", Live: 1, Waiting: 1, Pages: 64, PageTokens: 32, FreePages: 64, Threshold: 2, Planned: 3, MaxWait: 5 * time.Millisecond},
	}}
}

type scripted struct {
	script *script
	left   []sched.Event
}

func (s *scripted) Summary() sched.Summary { return s.script.summary }

func (s *scripted) Next(ctx context.Context) (sched.Event, error) {
	if len(s.left) > 0 {
		e := s.left[0]
		s.left = s.left[1:]
		return e, nil
	}
	if n := len(s.script.events); n > 0 && s.script.events[n-1].Finish != "" {
		return sched.Event{}, io.EOF
	}
	<-ctx.Done()
	return sched.Event{}, context.Cause(ctx)
}

// site is a server on a real connection.
type site struct {
	*httptest.Server
	api *Server
	log *lockedbuf.Buffer
}

// newSite starts a server; engine nil leaves it loading.
func newSite(t *testing.T, engine Engine, adjust func(*Options)) *site {
	t.Helper()
	log := &lockedbuf.Buffer{}
	o := Options{Log: zerolog.New(log).Level(zerolog.DebugLevel)}
	if adjust != nil {
		adjust(&o)
	}
	s := &site{api: New(o), log: log}
	if engine != nil {
		s.api.Ready(targets(), engine)
	}
	s.Server = httptest.NewServer(s.api)
	t.Cleanup(func() {
		s.Close()
		s.Client().CloseIdleConnections()
	})
	return s
}

func (s *site) post(t *testing.T, path, body string) (*http.Response, string) {
	t.Helper()
	r, err := s.Client().Post(s.URL+path, "application/json", strings.NewReader(body))
	require.NoError(t, err)
	return r, read(t, r)
}

func (s *site) get(t *testing.T, path string) (*http.Response, string) {
	t.Helper()
	r, err := s.Client().Get(s.URL + path)
	require.NoError(t, err)
	return r, read(t, r)
}

func read(t *testing.T, r *http.Response) string {
	t.Helper()
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return string(text)
}

// events cuts a stream of server-sent events into their data.
func events(t *testing.T, stream string) []string {
	t.Helper()
	require.True(t, strings.HasSuffix(stream, "\n\n"), stream)
	var out []string
	scan := bufio.NewScanner(strings.NewReader(stream))
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		line := scan.Text()
		if line == "" || strings.HasPrefix(line, ":") {
			continue
		}
		data, ok := strings.CutPrefix(line, "data: ")
		require.True(t, ok, "a line that is no event: %q", line)
		out = append(out, data)
	}
	return out
}

// token makes a token as the engine reports it.
func token(id int32, text string, model int, logprob float32) sched.Token {
	return sched.Token{ID: id, Text: text, Info: sched.TokenInfo{Model: model, LogProb: logprob, Entropy: 0.25}}
}

// chatBody and completionBody make minimal bodies with further members.
func chatBody(model, members string) string {
	return fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"hi"}]%s}`, model, member(members))
}

func completionBody(model, members string) string {
	return fmt.Sprintf(`{"model":%q,"prompt":"hi"%s}`, model, member(members))
}

func member(s string) string {
	if s == "" {
		return ""
	}
	return "," + s
}

func unmarshal(t *testing.T, text string, into any) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), into), text)
}
