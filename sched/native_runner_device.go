package sched

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/tokenrouter/tokenrouter/bindings"
)

// NativeOptions say how to open the native library and its device. The zero value finds the library by itself and uses
// all cores. Names of their JSON are for processes that probe devices.
type NativeOptions struct {
	Library     string `json:"library"`      // path of libtokenrouter.so; "": where bindings.Load looks
	CUDALibrary string `json:"cuda_library"` // path of libtokenrouter-cuda.so; "": where bindings.LoadCUDA looks
	Kind        string `json:"kind"`         // "" or "cpu"; "cuda", "cuda:1": a GPU
	CUDA        bool   `json:"cuda"`         // a device of the kind cpu is opened in the CUDA build, too: beside a GPU, so that both share one pool of threads
	Threads     int    `json:"threads"`      // threads that a step runs on; 0: all cores this process may use
	ISA         string `json:"isa"`          // instruction set; "": the environment's TR_CPU_ISA, else the best
}

func (o *NativeOptions) load() (*bindings.Library, error) {
	if o.CUDA || IsCUDA(o.Kind) {
		return bindings.LoadCUDA(o.CUDALibrary)
	}
	return bindings.Load(o.Library)
}

// NativeDevice is a device of the native library: what models are loaded on. Safe for concurrent use. Runners are closed
// before their model, models before the device.
type NativeDevice struct {
	library *bindings.Library
	device  *bindings.Device
	info    bindings.DeviceInfo
}

// OpenNativeDevice finds and opens the native library, and a device in it. Drivers of GPUs may crash: ask [ProbeNative] before.
func OpenNativeDevice(o NativeOptions) (*NativeDevice, error) {
	library, err := o.load()
	if err != nil {
		return nil, err
	}
	device, err := library.OpenDevice(bindings.DeviceOptions{Threads: o.Threads, Kind: o.Kind, ISA: o.ISA})
	if err != nil {
		return nil, fmt.Errorf("open the device: %w", err)
	}
	info, err := device.Describe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("describe the device: %w", err), device.Close())
	}
	return &NativeDevice{library: library, device: device, info: info}, nil
}

// Library is one line for a log: which library, from where, its version and digest.
func (d *NativeDevice) Library() string { return d.library.String() }

// NativeABI is the version of the native library's interface that this program is written for.
const NativeABI = bindings.ABIVersion

// LibraryPath is the file that was loaded. One that the program carries may be gone from there already.
func (d *NativeDevice) LibraryPath() string { return d.library.Path() }

// Threads is the number of threads that a step runs on.
func (d *NativeDevice) Threads() int { return d.info.Threads }

// Kind is "cpu" or "cuda".
func (d *NativeDevice) Kind() string { return d.info.Kind }

// ISA is the instruction set in use, of the processor.
func (d *NativeDevice) ISA() string { return d.info.ISA }

// Close closes the device; an error while a model on it is open.
func (d *NativeDevice) Close() error { return d.device.Close() }

// NativeInfo is what a loaded model is.
type NativeInfo = bindings.ModelInfo

// NativeModel is a loaded GGUF file. Safe for concurrent use.
type NativeModel struct {
	model *bindings.Model
}

// LoadModel loads a GGUF file, which takes seconds for a large one. progress may be nil; otherwise it counts the
// thousandths of the loading done.
func (d *NativeDevice) LoadModel(path string, progress *atomic.Int32) (*NativeModel, error) {
	return d.load(path, bindings.ModelOptions{Progress: progress})
}

// LoadExactModel is LoadModel for a model that computes in float32 on dequantized weights: slow, for comparisons.
func (d *NativeDevice) LoadExactModel(path string, progress *atomic.Int32) (*NativeModel, error) {
	return d.load(path, bindings.ModelOptions{Progress: progress, ExactFloat: true})
}

func (d *NativeDevice) load(path string, o bindings.ModelOptions) (*NativeModel, error) {
	model, err := d.device.LoadModel(path, o)
	if err != nil {
		return nil, err
	}
	return &NativeModel{model}, nil
}

// CheckModel says whether LoadModel would load the file, weights that are not finite aside. It reads the header only.
func (d *NativeDevice) CheckModel(path string) error { return d.device.CheckModel(path) }

// Info says what the model is.
func (m *NativeModel) Info() NativeInfo { return m.model.Info() }

// NewRunner makes a runner with a KV cache of its own.
func (m *NativeModel) NewRunner(limits NativeLimits) (*NativeRunner, error) {
	return NewNativeRunner(m.model, limits)
}

// Close frees the model; an error while a runner on it is open.
func (m *NativeModel) Close() error { return m.model.Close() }
