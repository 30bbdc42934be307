package teacher

import (
	"errors"
	"fmt"

	"github.com/tokenrouter/tokenrouter/bindings"
)

// Engine is one model ready to read golden answers.
type Engine struct {
	device *bindings.Device
	model  *bindings.Model
	arena  *bindings.Arena
}

const (
	windowTokens = 2048 // of a text that is read in one piece
	maxTokens    = 512  // of one answer
	maxRows      = 64
)

// Open loads a GGUF file on the CPU; exactFloat as in [bindings.ModelOptions]. The caller closes the engine.
func Open(library *bindings.Library, path string, exactFloat bool) (*Engine, error) {
	e := &Engine{}
	err := e.open(library, path, exactFloat)
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

func (e *Engine) open(library *bindings.Library, path string, exactFloat bool) (err error) {
	if e.device, err = library.OpenDevice(bindings.DeviceOptions{}); err != nil {
		return fmt.Errorf("open the device: %w", err)
	}
	if e.model, err = e.device.LoadModel(path, bindings.ModelOptions{ExactFloat: exactFloat}); err != nil {
		return fmt.Errorf("load %s: %w", path, err)
	}
	e.arena, err = e.model.NewArena(bindings.ArenaOptions{Pages: windowTokens / bindings.PageTokens, MaxTokens: maxTokens, MaxRows: maxRows})
	if err != nil {
		return fmt.Errorf("make a KV arena: %w", err)
	}
	return nil
}

// Close frees the engine.
func (e *Engine) Close() error {
	var errs []error
	if e.arena != nil {
		errs = append(errs, e.arena.Close())
	}
	if e.model != nil {
		errs = append(errs, e.model.Close())
	}
	if e.device != nil {
		errs = append(errs, e.device.Close())
	}
	return errors.Join(errs...)
}

// Read runs one answer as a single extend and calls visit, in order, with what the engine predicts for each of its steps.
// The slices of the prediction are valid during the call only.
func (e *Engine) Read(a Answer, visit func(step int, p bindings.Answer)) error {
	ids := a.Sequence()
	if len(ids) > maxTokens || len(a.Steps) > maxRows {
		return fmt.Errorf("answer to %q: %d tokens and %d steps, the limits are %d and %d", a.Prompt, len(ids), len(a.Steps), maxTokens, maxRows)
	}
	pages := make([]int32, (len(ids)+bindings.PageTokens-1)/bindings.PageTokens)
	for i := range pages {
		pages[i] = int32(i)
	}
	batch := e.arena.NewBatch()
	batch.AddSegment(ids, 0, pages)
	for step := range a.Steps {
		batch.AddRow(&bindings.Row{Offset: len(a.PromptIDs) - 1 + step, Logits: true, Top: 1})
	}
	if err := e.arena.Step(batch); err != nil {
		return fmt.Errorf("answer to %q: %w", a.Prompt, err)
	}
	for step := range a.Steps {
		visit(step, batch.Answer(step))
	}
	return nil
}
