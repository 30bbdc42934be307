// Package trace writes what the loops of an engine do as a trace in the Chrome format, which ui.perfetto.dev and
// chrome://tracing show: a track for each loop of each model, a slice for each step, an arrow for each handoff, and a span for
// the time that a request is away from a model.
package trace

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/tokenrouter/tokenrouter/sched"
)

// Writer is a trace that is being written. Its methods are safe for concurrent use.
type Writer struct {
	mu     sync.Mutex
	out    *bufio.Writer
	start  time.Time // of the first event
	tracks map[string]int
	flows  map[string]int // number of the handoff that is under way, by request
	flow   int
	err    error
}

// New starts a trace. It is complete after Close.
func New(out io.Writer) *Writer {
	w := &Writer{out: bufio.NewWriterSize(out, 1<<16), tracks: make(map[string]int), flows: make(map[string]int)}
	_, w.err = w.out.WriteString(`{"displayTimeUnit":"ms","traceEvents":[` + "\n" + `{"ph":"M","pid":1,"name":"process_name","args":{"name":"tokenrouter"}}`)
	return w
}

// Close ends the trace; it returns the first error of writing. What the trace is written to is the caller's to close.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		_, w.err = w.out.WriteString("\n]}\n")
	}
	if w.err == nil {
		w.err = w.out.Flush()
	}
	err := w.err
	if w.err == nil {
		w.err = errors.New("the trace is closed")
	}
	if err != nil {
		return fmt.Errorf("write the trace: %w", err)
	}
	return nil
}

// event is one event of the format (Google, "Trace Event Format"). Times are in microseconds.
type event struct {
	Phase    string         `json:"ph"`
	Name     string         `json:"name"`
	Category string         `json:"cat,omitempty"`
	Process  int            `json:"pid"`
	Track    int            `json:"tid"`
	Time     float64        `json:"ts"`
	Duration *float64       `json:"dur,omitempty"`
	ID       string         `json:"id,omitempty"`
	Bind     string         `json:"bp,omitempty"`
	Args     map[string]any `json:"args,omitempty"`
}

// Observer records an engine.
func (w *Writer) Observer() *sched.Observer {
	return &sched.Observer{Admit: w.admit, Batch: w.batch, Ahead: w.ahead, Handoff: w.handoff, Resume: w.resume, Turn: w.turn}
}

// The loops, as tracks are named.
const (
	decode  = "decode"
	peers   = "peers"
	clients = "clients"
)

func (w *Writer) admit(r sched.AdmitRecord) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.put(&event{Phase: "i", Name: "admit " + r.Request, Category: "admission", Track: w.track(r.Model, clients), Time: w.at(r.Time),
		Args: map[string]any{"request": r.Request, "prompt": r.Prompt, "delay_us": r.Time.Sub(r.Asked).Microseconds()}})
}

func (w *Writer) batch(r sched.BatchRecord) {
	w.mu.Lock()
	defer w.mu.Unlock()
	args := map[string]any{
		"requests": r.Requests, "lengths": r.Lengths, "rows": r.Rows, "prefill": r.Prefill, "decode": r.Decode, "resume": r.Resume,
		"rebuild": r.Rebuild, "ahead": r.Ahead, "waiting": r.Waiting, "pending": r.Pending, "evicted": r.Evicted, "committed": r.Committed,
		"handed_off": r.HandedOff, "threshold": r.Threshold,
	}
	if n := r.Drafted + r.Accepted + r.Rejected; n > 0 {
		args["drafted"], args["accepted"], args["rejected"] = r.Drafted, r.Accepted, r.Rejected
	}
	if r.Err != nil {
		args["error"] = r.Err.Error()
	}
	w.slice(fmt.Sprintf("step of %d", r.Segments), "step", w.track(r.Model, decode), r.Start, r.End, args)
}

func (w *Writer) ahead(r sched.AheadRecord) {
	w.mu.Lock()
	defer w.mu.Unlock()
	args := map[string]any{"requests": r.Requests, "lengths": r.Lengths, "tokens": r.Tokens}
	if r.Err != nil {
		args["error"] = r.Err.Error()
	}
	w.slice(fmt.Sprintf("ahead %d", r.Tokens), "ahead", w.track(r.Model, decode), r.Start, r.End, args)
}

func (w *Writer) handoff(r sched.HandoffRecord) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flow++
	w.flows[r.Request] = w.flow
	at, track := w.at(r.Time), w.track(r.From, decode)
	w.put(&event{Phase: "s", Name: "handoff", Category: "handoff", Track: track, Time: at, ID: fmt.Sprint(w.flow),
		Args: map[string]any{"request": r.Request, "to": r.To, "tokens": r.Tokens, "length": r.Length, "kept": r.Kept}})
	w.put(&event{Phase: "b", Name: "pending", Category: "pending", Track: track, Time: at, ID: r.Request + " at " + r.From,
		Args: map[string]any{"request": r.Request, "model": r.From}})
}

func (w *Writer) resume(r sched.ResumeRecord) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at, track := w.at(r.Time), w.track(r.To, peers)
	if id, ok := w.flows[r.Request]; ok {
		delete(w.flows, r.Request)
		w.put(&event{Phase: "f", Name: "handoff", Category: "handoff", Track: track, Time: at, ID: fmt.Sprint(id), Bind: "e",
			Args: map[string]any{"request": r.Request, "from": r.From, "to": r.To, "tokens": r.Tokens}})
	}
	if r.Known {
		w.put(&event{Phase: "e", Name: "pending", Category: "pending", Track: w.track(r.To, decode), Time: at, ID: r.Request + " at " + r.To})
	}
}

func (w *Writer) turn(r sched.TurnRecord) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.slice(fmt.Sprintf("%d items", r.Items), "turn", w.track(r.Model, r.Loop), r.Start, r.End, map[string]any{"items": r.Items})
}

func (w *Writer) slice(name, category string, track int, start, end time.Time, args map[string]any) {
	at := w.at(start)
	took := w.at(end) - at
	w.put(&event{Phase: "X", Name: name, Category: category, Track: track, Time: at, Duration: &took, Args: args})
}

// at is a moment in microseconds since the first one.
func (w *Writer) at(t time.Time) float64 {
	if w.start.IsZero() {
		w.start = t
	}
	return float64(t.Sub(w.start).Nanoseconds()) / 1000
}

// track returns the number of a loop's track, and names it when it is new.
func (w *Writer) track(model, loop string) int {
	key := model + ": " + loop
	id, ok := w.tracks[key]
	if !ok {
		id = len(w.tracks) + 1
		w.tracks[key] = id
		w.put(&event{Phase: "M", Name: "thread_name", Track: id, Args: map[string]any{"name": key}})
	}
	return id
}

func (w *Writer) put(e *event) {
	if w.err != nil {
		return
	}
	e.Process = 1
	text, err := json.Marshal(e)
	if err == nil {
		_, err = w.out.WriteString(",\n")
	}
	if err == nil {
		_, err = w.out.Write(text)
	}
	w.err = err
}
