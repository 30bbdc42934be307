package sched

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"github.com/tokenrouter/tokenrouter/bindings"
)

// Fault says why a device cannot be used. Names stay: scripts read them.
type Fault string

// Faults of [ProbeNative]; whoever runs it in a process of its own adds what becomes of that.
const (
	FaultLibrary     Fault = "library"             // the library is not there, or does not load
	FaultNoDriver    Fault = "no driver"           // no NVIDIA driver is installed
	FaultOldDriver   Fault = "driver too old"      // for the library
	FaultDriver      Fault = "driver"              // it fails in another way
	FaultNoDevice    Fault = "no such device"      // no GPU, or none of this number
	FaultUnsupported Fault = "device too old"      // it has no kernels for it
	FaultNoMemory    Fault = "out of memory"       // other programs have taken it
	FaultDevice      Fault = "device"              // opening it fails in another way
	FaultCrash       Fault = "probe crashed"       // the process that opened it ended without an answer
	FaultTimeout     Fault = "probe did not end"   // it hangs
	FaultProbe       Fault = "probe did not start" // there is no such process
)

// ErrNoMemory is wrapped by what the native library could not allocate.
var ErrNoMemory error = bindings.ErrNoMemory

// NativeProbe is what there is to know of a device before models are loaded onto it. Names of its JSON stay: scripts read them.
type NativeProbe struct {
	Kind       string   `json:"kind"`             // as it was asked for: "cpu", "cuda:1"
	Library    string   `json:"library"`          // path; "": none was loaded
	Name       string   `json:"name"`             // of the GPU
	Capability string   `json:"capability"`       // compute capability, "9.0"
	Memory     int64    `json:"memory"`           // bytes of the GPU
	Free       int64    `json:"free"`             // of them, with what a process takes in order to use it taken
	Driver     string   `json:"driver"`           // newest CUDA that the driver supports, "13.0"
	GPUs       []string `json:"gpus"`             // names of all
	Threads    int      `json:"threads"`          // of the processor, for what it does of a step
	Fault      Fault    `json:"fault,omitempty"`  // "": the device can be used
	Reason     string   `json:"reason,omitempty"` // what is wrong and what to do about it
}

// Err is what is wrong with the device; nil if nothing is.
func (p *NativeProbe) Err() error {
	if p.Fault == "" {
		return nil
	}
	return errors.New(p.Reason)
}

// oldestCapability is the compute capability that the library's kernels need at least, times ten.
const oldestCapability = 80

// IsCUDA reports whether a device of this kind is a GPU.
func IsCUDA(kind string) bool { return kind == "cuda" || strings.HasPrefix(kind, "cuda:") }

// gpuNumber is the number behind the colon, 0 without one.
func gpuNumber(kind string) (int, error) {
	_, number, found := strings.Cut(kind, ":")
	if !found {
		return 0, nil
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("device kind %q: expected a number behind the colon", kind)
	}
	return n, nil
}

// ProbeNative loads the library and opens a device. What drivers do wrong, a crash included, happens here: call it in a process that
// may be lost.
func ProbeNative(o NativeOptions) NativeProbe {
	// The GPU that is asked for its memory is the thread's.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p := NativeProbe{Kind: o.Kind, GPUs: []string{}}
	number, err := gpuNumber(o.Kind)
	if err != nil {
		p.fail(FaultNoDevice, "%v", err)
		return p
	}
	var driver *bindings.Driver
	if IsCUDA(o.Kind) {
		if driver = p.askDriver(number); driver == nil {
			return p
		}
	}
	library, err := o.load()
	if err != nil {
		p.fail(FaultLibrary, "%v", err)
		return p
	}
	p.Library = library.Path()
	device, err := library.OpenDevice(bindings.DeviceOptions{Threads: o.Threads, Kind: o.Kind, ISA: o.ISA})
	if err != nil {
		p.notOpened(err)
		return p
	}
	defer func() { _ = device.Close() }() // the probe has what it wanted
	info, err := device.Describe()
	if err != nil {
		p.fail(FaultDevice, "%v", err)
		return p
	}
	p.Threads = info.Threads
	if driver != nil {
		if p.Free, err = driver.Free(number); err != nil {
			p.fail(FaultDriver, "the free memory of %s is not known: %v", o.Kind, err)
		}
	}
	return p
}

func (p *NativeProbe) fail(fault Fault, format string, args ...any) {
	p.Fault, p.Reason = fault, fmt.Sprintf(format, args...)
}

// askDriver looks for the GPU; nil if there is none to open.
func (p *NativeProbe) askDriver(number int) *bindings.Driver {
	driver, err := bindings.OpenDriver()
	if driver != nil {
		if v := driver.CUDA(); v > 0 {
			p.Driver = fmt.Sprintf("%d.%d", v/1000, v%1000/10)
		}
		for _, g := range driver.GPUs() {
			p.GPUs = append(p.GPUs, g.Name)
		}
	}
	var failed *bindings.DriverError
	switch {
	case errors.Is(err, bindings.ErrNoDriver):
		p.fail(FaultNoDriver, "%v; install it, start the container with its GPUs (docker run --gpus all), or use the device cpu", bindings.ErrNoDriver)
		return nil
	case errors.As(err, &failed) && failed.Code == bindings.DriverNoDevice:
		p.fail(FaultNoDevice, "there is no GPU: an NVIDIA driver is there, and finds none (%v); CUDA_VISIBLE_DEVICES may hide it", err)
		return nil
	case errors.As(err, &failed) && failed.Code == bindings.DriverMismatch:
		p.fail(FaultDriver, "the NVIDIA driver cannot be used: its library and the module in the kernel are of different releases (%v); reboot after a driver has been updated", err)
		return nil
	case err != nil:
		p.fail(FaultDriver, "the NVIDIA driver cannot be used: %v; does nvidia-smi work?", err)
		return nil
	}
	gpus := driver.GPUs()
	if number >= len(gpus) {
		p.fail(FaultNoDevice, "there is no GPU %d: this machine has %d, counted from 0 (%s); CUDA_VISIBLE_DEVICES may hide others", number, len(gpus), strings.Join(p.GPUs, ", "))
		return nil
	}
	g := gpus[number]
	p.Name, p.Capability, p.Memory = g.Name, fmt.Sprintf("%d.%d", g.Major, g.Minor), g.Memory
	if g.Major*10+g.Minor < oldestCapability {
		p.fail(FaultUnsupported, "GPU %d, %s, has compute capability %s; 8.0 or later is needed (NVIDIA's Ampere generation, of 2020)", number, g.Name, p.Capability)
		return nil
	}
	return driver
}

// notOpened says why the library could not open the device.
func (p *NativeProbe) notOpened(err error) {
	switch {
	// The runtime in the library knows what it needs of the driver; this is its text for cudaErrorInsufficientDriver.
	case strings.Contains(err.Error(), "driver version is insufficient"):
		p.fail(FaultOldDriver, "the NVIDIA driver is too old for this library: it supports CUDA %s; update it (%v)", p.Driver, err)
	case errors.Is(err, bindings.ErrNoMemory), strings.Contains(err.Error(), "out of memory"):
		p.fail(FaultNoMemory, "%s has no memory left: other programs have taken it (nvidia-smi lists them): %v", p.Kind, err)
	default:
		p.fail(FaultDevice, "%s cannot be opened: %v", p.Kind, err)
	}
}
