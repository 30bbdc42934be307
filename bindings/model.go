package bindings

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// modelHandle is a tr_model *.
type modelHandle uintptr

// Flags of tr_model_params.
const (
	modelExactFloat = 1
	modelCheckOnly  = 2
)

// modelParams is tr_model_params.
type modelParams struct {
	size     uint32
	flags    uint32
	progress *int32
}

// modelInfo is tr_model_info.
type modelInfo struct {
	size            uint32
	nVocab          int32
	nEmbd           int32
	nLayer          int32
	nHead           int32
	nHeadKv         int32
	headDim         int32
	nCtxTrain       int32
	nParams         uint64
	weightBytes     uint64
	kvBytesPerToken uint64
	architecture    uintptr
	name            uintptr
}

// ModelOptions say how to load a model.
type ModelOptions struct {
	// ExactFloat computes in float32 on dequantized weights: slow, the yardstick of the integer path.
	ExactFloat bool
	// Progress, if not nil, holds the thousandths of the loading done so far while LoadModel runs. Read it from another
	// goroutine with Load.
	Progress *atomic.Int32
}

// ModelInfo is what a model is.
type ModelInfo struct {
	Architecture    string // "qwen2"
	Name            string // general.name of the file, or ""
	Vocab           int    // logits of a row
	Embd            int    // floats of a hidden state
	Layers          int
	Heads           int
	HeadsKV         int
	HeadDim         int
	ContextTrain    int // context length that the file states, tokens
	Params          uint64
	WeightBytes     uint64 // memory that the packed weights take
	KVBytesPerToken uint64 // over all layers
}

// Model is a loaded GGUF file. Safe for concurrent use.
type Model struct {
	resource
	library *Library
	handle  modelHandle
	info    ModelInfo
}

// LoadModel loads a GGUF file onto the device. It takes seconds for a large file; the file may be removed afterwards.
//
// Errors: [ErrIO], [ErrFormat], [ErrUnsupported], [ErrNoMemory].
func (d *Device) LoadModel(path string, o ModelOptions) (*Model, error) {
	file, err := cPath("model path", path)
	if err != nil {
		return nil, err
	}
	params := modelParams{}
	params.size = uint32(unsafe.Sizeof(params)) // safe: a constant
	if o.ExactFloat {
		params.flags |= modelExactFloat
	}
	if o.Progress != nil {
		// Safe: an atomic.Int32 is one 32-bit word (a test holds that), and the library stores into it atomically.
		params.progress = (*int32)(unsafe.Pointer(o.Progress))
	}
	if err := d.use(); err != nil {
		return nil, err
	}
	defer d.release()
	m := &Model{library: d.library}
	if err := d.modelLoad(file, &params, &m.handle); err != nil {
		return nil, fmt.Errorf("load %s: %w", path, err)
	}
	d.adopt(&m.resource, "model")
	if m.info, err = m.describe(); err != nil {
		_ = m.Close() // nothing has been made from it
		return nil, err
	}
	return m, nil
}

// CheckModel reads a GGUF file's header and says, as LoadModel would, whether this build runs the model: nothing but the weights
// themselves goes unchecked. Errors: as LoadModel's.
func (d *Device) CheckModel(path string) error {
	file, err := cPath("model path", path)
	if err != nil {
		return err
	}
	params := modelParams{flags: modelCheckOnly}
	params.size = uint32(unsafe.Sizeof(params)) // safe: a constant
	if err := d.use(); err != nil {
		return err
	}
	defer d.release()
	var none modelHandle
	return d.modelLoad(file, &params, &none)
}

// tr_status tr_model_load(tr_device *device, const char *path, const tr_model_params *params, tr_model **out, char *err, size_t err_len);
func (d *Device) modelLoad(path *byte, params *modelParams, out *modelHandle) error {
	var text message
	status := call(d.library.fn.modelLoad, uintptr(d.handle),
		uintptr(unsafe.Pointer(path)),                // safe: NUL-terminated by cString; kept alive by call
		uintptr(unsafe.Pointer(params)),              // safe: mirrors tr_model_params; kept alive by call
		uintptr(unsafe.Pointer(out)),                 // safe: one pointer-sized word; kept alive by call
		uintptr(unsafe.Pointer(&text)), messageBytes) // safe: the length goes along; kept alive by call
	return text.failure("tr_model_load", status)
}

// tr_status tr_model_describe(const tr_model *model, tr_model_info *info, char *err, size_t err_len);
func (m *Model) describe() (ModelInfo, error) {
	var text message
	info := &modelInfo{}
	info.size = uint32(unsafe.Sizeof(*info)) // safe: a constant
	status := call(m.library.fn.modelDescribe, uintptr(m.handle),
		uintptr(unsafe.Pointer(info)),                // safe: mirrors tr_model_info; kept alive by call
		uintptr(unsafe.Pointer(&text)), messageBytes) // safe: the length goes along; kept alive by call
	if err := text.failure("tr_model_describe", status); err != nil {
		return ModelInfo{}, err
	}
	return ModelInfo{
		Architecture:    nativeString(info.architecture), // safe: lives as long as the model, which nobody else knows yet
		Name:            nativeString(info.name),         // safe: likewise
		Vocab:           int(info.nVocab),
		Embd:            int(info.nEmbd),
		Layers:          int(info.nLayer),
		Heads:           int(info.nHead),
		HeadsKV:         int(info.nHeadKv),
		HeadDim:         int(info.headDim),
		ContextTrain:    int(info.nCtxTrain),
		Params:          info.nParams,
		WeightBytes:     info.weightBytes,
		KVBytesPerToken: info.kvBytesPerToken,
	}, nil
}

// Info says what the model is. It stays valid after Close.
func (m *Model) Info() ModelInfo { return m.info }

// Close frees the model. [ErrInUse] while an arena of it is open.
//
// void tr_model_free(tr_model *model);
func (m *Model) Close() error {
	return m.close(func() { call(m.library.fn.modelFree, uintptr(m.handle)) })
}
