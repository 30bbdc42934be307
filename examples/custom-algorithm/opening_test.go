package opening_test

import (
	"context"
	"io"
	"slices"
	"testing"

	_ "example.com/custom-algorithm"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/sched/simrunner"
)

// The scheduler runs the algorithm under its name, on simulated models.
func TestOpening(t *testing.T) {
	var o sched.Options
	for i, name := range []string{"small", "large"} {
		m := simrunner.Model{Seed: uint64(i)}
		o.Models = append(o.Models, sched.ModelOptions{Name: name, Runner: simrunner.New(m), Info: m.Info()})
	}
	o.Routes = []sched.RouteOptions{{Name: "pair", Algorithm: "opening", Models: []string{"small", "large"}}}
	o.MaxQueue = 1
	engine, err := sched.NewEngine(o)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := engine.Submit(t.Context(), sched.Request{Target: "pair", Prompt: []int32{1, 2}, MaxTokens: 6})
	if err != nil {
		t.Fatal(err)
	}
	var wrote []int
	for {
		event, err := stream.Next(t.Context())
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, token := range event.Tokens {
			wrote = append(wrote, token.Info.Model)
		}
	}
	if want := []int{1, 1, 1, 0, 0, 0}; !slices.Equal(wrote, want) {
		t.Errorf("written by %v, want %v", wrote, want)
	}
	if err := engine.Close(context.Background()); err != nil {
		t.Error(err)
	}
}
