package bindings

import (
	"fmt"
	"unsafe"
)

// headHandle is a tr_head *.
type headHandle uintptr

// headInfo is tr_head_info.
type headInfo struct {
	size        uint32
	nTop        int32
	needsToken  int32
	threshold   float32
	nParams     uint64
	weightBytes uint64
	kind        uintptr
	name        uintptr
}

// HeadInfo is what a router head is.
type HeadInfo struct {
	Kind        string  // "linear", "mlp" or "residual"
	Name        string  // general.name, or ""
	Top         int     // a row that names the head must ask for at least as many ids
	NeedsToken  bool    // such a row must draw a token
	Threshold   float32 // that the file recommends, of the logistic function of Answer.HeadLogit
	Params      uint64
	WeightBytes uint64
}

// Head is a router head on a model: a small network that scores rows of the model's steps. Safe for concurrent use.
type Head struct {
	resource
	library *Library
	handle  headHandle
	info    HeadInfo
}

// LoadHead loads a head for the model from a GGUF file. The head must be closed before the model, and outlive every batch that
// names it.
//
// Errors: [ErrIO], [ErrFormat], [ErrUnsupported], [ErrNoMemory]; [ErrArgument] for a head that was made for another model.
func (m *Model) LoadHead(path string) (*Head, error) {
	file, err := cPath("head path", path)
	if err != nil {
		return nil, err
	}
	if err := m.use(); err != nil {
		return nil, err
	}
	defer m.release()
	h := &Head{library: m.library}
	if err := m.headLoad(file, &h.handle); err != nil {
		return nil, fmt.Errorf("load %s: %w", path, err)
	}
	m.adopt(&h.resource, "head")
	if h.info, err = h.describe(); err != nil {
		_ = h.Close() // no batch names it yet
		return nil, err
	}
	return h, nil
}

// tr_status tr_head_load(tr_model *model, const char *path, tr_head **out, char *err, size_t err_len);
func (m *Model) headLoad(path *byte, out *headHandle) error {
	var text message
	status := call(m.library.fn.headLoad, uintptr(m.handle),
		uintptr(unsafe.Pointer(path)),                // safe: NUL-terminated by cString; kept alive by call
		uintptr(unsafe.Pointer(out)),                 // safe: one pointer-sized word; kept alive by call
		uintptr(unsafe.Pointer(&text)), messageBytes) // safe: the length goes along; kept alive by call
	return text.failure("tr_head_load", status)
}

// tr_status tr_head_describe(const tr_head *head, tr_head_info *info, char *err, size_t err_len);
func (h *Head) describe() (HeadInfo, error) {
	var text message
	info := &headInfo{}
	info.size = uint32(unsafe.Sizeof(*info)) // safe: a constant
	status := call(h.library.fn.headDescribe, uintptr(h.handle),
		uintptr(unsafe.Pointer(info)),                // safe: mirrors tr_head_info; kept alive by call
		uintptr(unsafe.Pointer(&text)), messageBytes) // safe: the length goes along; kept alive by call
	if err := text.failure("tr_head_describe", status); err != nil {
		return HeadInfo{}, err
	}
	return HeadInfo{
		Kind:        nativeString(info.kind), // safe: lives as long as the head, which nobody else knows yet
		Name:        nativeString(info.name), // safe: likewise
		Top:         int(info.nTop),
		NeedsToken:  info.needsToken != 0,
		Threshold:   info.threshold,
		Params:      info.nParams,
		WeightBytes: info.weightBytes,
	}, nil
}

// Info says what the head is. It stays valid after Close.
func (h *Head) Info() HeadInfo { return h.info }

// Close frees the head. No step whose batch names it may be running.
//
// void tr_head_free(tr_head *head);
func (h *Head) Close() error {
	return h.close(func() { call(h.library.fn.headFree, uintptr(h.handle)) })
}
