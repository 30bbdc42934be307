package exactness

import (
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/models"
	"github.com/tokenrouter/tokenrouter/models/chat"
	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/tests/internal/realmodels"
)

// problems are word problems of the kind that the built-in pair was trained on.
var problems = []string{
	"Mia has 12 apples. She buys 7 more apples and gives away 5. How many apples does she have?",
	"Tom has 46 marbles. He loses 18 marbles. Then he finds 9. How many marbles does he have now?",
	"A box holds 6 pens. There are 14 boxes. How many pens are there?",
	"Ben reads 13 pages a day. How many pages does he read in 8 days?",
	"Anna has 95 stickers. She shares them equally among 5 friends. How many stickers does each friend get?",
	"There are 33 birds on a tree. 17 birds fly away, and 4 come back. How many birds are on the tree?",
	"A book costs 9 dollars. Leo buys 7 books and pays with 100 dollars. How much money does he get back?",
	"Sam has 28 coins. Kim has 3 times as many. How many coins do they have together?",
	"A train has 9 cars with 24 seats each. 58 seats are free. How many seats are taken?",
	"Eva bakes 54 cookies. She eats 6 and puts the others in 8 bags. How many cookies are in each bag?",
	"Noah saves 15 dollars a week. How much has he saved after 12 weeks?",
	"A farmer has 72 eggs. He sells 4 dozen. How many eggs are left?",
	"Lily has 64 beads. She uses 25 for a necklace and 16 for a bracelet. How many beads are left?",
	"There are 11 rows of 13 chairs. 20 chairs are broken. How many chairs can be used?",
	"Max runs 3 kilometers every day for 9 days. How far does he run?",
	"A shop sells 120 cups. 45 are red, and the others are blue. How many cups are blue?",
}

// builtIn is the pair that the program carries.
func builtIn(t *testing.T) lineup {
	t.Helper()
	dir, err := filepath.Abs("../../models/pair")
	require.NoError(t, err)
	l := newLineup(t, member{"demo-small", filepath.Join(dir, "small.gguf")}, member{"demo-large", filepath.Join(dir, "large.gguf")})
	l.context = 512
	return l
}

// asked are the problems as the models read them.
func asked(t *testing.T, l lineup) (prompts [][]int32) {
	t.Helper()
	m, err := models.Open(l.members[0].path)
	require.NoError(t, err)
	for _, p := range problems {
		ids, err := m.Prompt(chat.Request{Messages: []chat.Message{chat.User(p)}})
		require.NoError(t, err)
		prompts = append(prompts, ids)
	}
	return prompts
}

// Speculative decoding answers as the large model does alone, on the built-in pair and on the real one: greedy and seeded, one request
// at a time and sixteen, whatever the batching, the chunks and the number of drafts. Every token is the large model's.
func TestExactSpeculative(t *testing.T) {
	for _, pair := range []struct {
		name   string
		lineup func(*testing.T) lineup
		tokens int
		most   int // prompts; one at a time half of them
	}{
		{"built-in", builtIn, 64, 16},
		{"real", func(t *testing.T) lineup { return real(t, realmodels.Small, realmodels.Large) }, 16, 4},
	} {
		t.Run(pair.name, func(t *testing.T) {
			l := pair.lineup(t)
			prompts := asked(t, l)[:pair.most]
			large := l
			large.members = l.members[1:]
			expected := sequential(t, large, prompts, pair.tokens)
			for _, c := range []struct{ batching, chunk, draft int }{{1, 512, 4}, {4, 3, 7}} {
				l.routing = map[string]any{"algorithm": router.SpeculativeName, "draft": c.draft}
				site := serve(t, l, c.batching, c.chunk)
				for _, clients := range []int{1, 16} {
					for _, sampled := range []bool{false, true} {
						cell := cell{batching: c.batching, chunk: c.chunk, concurrency: clients, sampled: sampled}
						t.Run(cell.String(), func(t *testing.T) {
							site.journal.reset()
							accepted, drafted := site.drafts(t)
							compare(t, site, cell, prompts, upto(len(prompts)/(1+1/clients)), pair.tokens, expected)
							seen := site.journal.take()
							require.Empty(t, seen.faults)
							more, all := site.drafts(t)
							accepted, drafted = more-accepted, all-drafted
							t.Logf("%d of %d drafts of %d accepted", accepted, drafted, c.draft)
							require.Greater(t, accepted, drafted/5)
							require.LessOrEqual(t, accepted, drafted)
						})
					}
				}
				site.close(t)
			}
		})
	}
}

// drafts counts the drafts that the large model has accepted so far, and all that the small one has made.
func (s *site) drafts(t *testing.T) (accepted, drafted int) {
	t.Helper()
	response, err := http.Get(s.url + "/metrics")
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "} ")
		n, _ := strconv.ParseFloat(value, 64)
		switch {
		case strings.HasPrefix(name, "tokenrouter_drafted_tokens_total"):
			drafted += int(n)
		case strings.HasPrefix(name, "tokenrouter_judged_drafts_total") && strings.HasSuffix(name, `verdict="accepted"`):
			accepted += int(n)
		}
	}
	return accepted, drafted
}

// A request may ask for it on a route of another algorithm, with its own number of drafts; the account shows it.
func TestSpeculativeByRequest(t *testing.T) {
	l := builtIn(t)
	site := serve(t, l, 1, 512)
	defer site.close(t)
	ask := func(body string) map[string]any {
		response, err := http.Post(site.url+"/v1/chat/completions", "application/json", strings.NewReader(body))
		require.NoError(t, err)
		defer response.Body.Close()
		var answer map[string]any
		require.NoError(t, json.NewDecoder(response.Body).Decode(&answer))
		require.Equal(t, http.StatusOK, response.StatusCode, "%v", answer)
		return answer
	}
	messages := `"messages":[{"role":"user","content":` + strconv.Quote(problems[0]) + `}],"temperature":0`
	alone := ask(`{"model":"demo-large",` + messages + `}`)
	drafted := ask(`{"model":"routed",` + messages + `,"routing":{"algorithm":"speculative","draft":6}}`)
	text := func(a map[string]any) any {
		return a["choices"].([]any)[0].(map[string]any)["message"].(map[string]any)["content"]
	}
	require.Equal(t, text(alone), text(drafted))
	routing := drafted["routing"].(map[string]any)
	require.Equal(t, "speculative", routing["algorithm"])
	require.EqualValues(t, 0, routing["tokens"].(map[string]any)["demo-small"])
	require.Greater(t, routing["drafted"], routing["discarded"])
	require.Equal(t, routing["drafted"], routing["accepted"].(float64)+routing["discarded"].(float64))
}
