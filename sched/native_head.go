package sched

import (
	"errors"
	"fmt"

	"github.com/tokenrouter/tokenrouter/bindings"
	"github.com/tokenrouter/tokenrouter/models/heads"
)

// NativeHead is a router head of the native library, loaded for one model.
type NativeHead struct {
	head      *bindings.Head
	model     *bindings.Model
	info      NativeHeadInfo
	algorithm string
}

var _ Head = (*NativeHead)(nil)

// LoadHead loads a router head for the model from a GGUF file. It is closed before the model, and after the engines that use it.
func (m *NativeModel) LoadHead(path string) (*NativeHead, error) {
	file, err := heads.Open(path)
	if err != nil {
		return nil, err
	}
	head, err := m.model.LoadHead(path)
	if err != nil {
		return nil, err
	}
	return &NativeHead{head: head, model: m.model, info: head.Info(), algorithm: file.Algorithm}, nil
}

// NativeHeadInfo is what a loaded head is.
type NativeHeadInfo = bindings.HeadInfo

// Info says what the head is.
func (h *NativeHead) Info() NativeHeadInfo { return h.info }

// Algorithm is the one that the file says the head was made for; "" if it says none.
func (h *NativeHead) Algorithm() string { return h.algorithm }

// Top is how many of the largest logits the head looks at.
func (h *NativeHead) Top() int { return h.info.Top }

// Close frees the head. No step that names it may be running.
func (h *NativeHead) Close() error { return h.head.Close() }

// CheckHead implements [HeadRunner]: the head must have been loaded for the runner's model.
func (r *NativeRunner) CheckHead(h Head) error {
	native, ok := h.(*NativeHead)
	switch {
	case !ok || native == nil:
		return fmt.Errorf("it is a %T, expected a head that NativeModel.LoadHead gave", h)
	case native.model != r.model:
		return errors.New("it was loaded for another model: load it for this one")
	}
	return nil
}
