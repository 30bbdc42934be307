package bindings

import (
	"errors"
	"fmt"
	"unsafe"
)

// DriverFile is NVIDIA's driver as the system's loader knows it.
const DriverFile = "libcuda.so.1"

// ErrNoDriver says that the system's loader does not find NVIDIA's driver.
var ErrNoDriver = errors.New("no NVIDIA driver: " + DriverFile + " is not on this system")

// Driver is NVIDIA's driver, asked for itself and not through the library: what it says tells why a device cannot be opened. It may
// crash or hang, and stays loaded, so it is asked in a process of its own. Not safe for concurrent use.
type Driver struct {
	cuda int // 13000 for CUDA 13.0
	gpus []GPU
	fn   driverSymbols
}

// GPU is what the driver says of one.
type GPU struct {
	Name         string
	Major, Minor int // compute capability
	Memory       int64
}

// DriverError is a failed call of the driver.
type DriverError struct {
	Call string // "cuInit"
	Code int    // a CUresult
	Text string // the driver's own
}

// Results of the driver that callers tell apart.
const (
	DriverNoDevice = 100 // CUDA_ERROR_NO_DEVICE
	DriverMismatch = 803 // CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: kernel module and library are of different releases
)

// Error implements error.
func (e *DriverError) Error() string {
	if e.Text == "" {
		return fmt.Sprintf("%s: CUDA error %d", e.Call, e.Code)
	}
	return fmt.Sprintf("%s: CUDA error %d (%s)", e.Call, e.Code, e.Text)
}

// driverSymbols are the addresses of the driver's functions, of the CUDA driver API.
type driverSymbols struct {
	init, version, errorText, count, device, name, total, attribute, retain, setCurrent, memory uintptr
}

func (s *driverSymbols) table() []symbol {
	return []symbol{
		{"cuInit", &s.init}, {"cuDriverGetVersion", &s.version}, {"cuGetErrorString", &s.errorText},
		{"cuDeviceGetCount", &s.count}, {"cuDeviceGet", &s.device}, {"cuDeviceGetName", &s.name}, {"cuDeviceTotalMem_v2", &s.total},
		{"cuDeviceGetAttribute", &s.attribute}, {"cuDevicePrimaryCtxRetain", &s.retain}, {"cuCtxSetCurrent", &s.setCurrent}, {"cuMemGetInfo_v2", &s.memory},
	}
}

// OpenDriver loads the driver and asks for its GPUs. On an error other than [ErrNoDriver] the driver is returned, too, as far as it
// answered: its version is known before its GPUs are.
func OpenDriver() (*Driver, error) {
	object, err := openObject(DriverFile)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoDriver, err)
	}
	d := &Driver{}
	if err := bindAll(d.fn.table(), object); err != nil {
		return nil, fmt.Errorf("%s: %w", DriverFile, err)
	}
	var version int32
	if err := d.failed("cuDriverGetVersion", call(d.fn.version, uintptr(unsafe.Pointer(&version)))); err != nil { // safe: an int; kept alive by call
		return d, err
	}
	d.cuda = int(version)
	if err := d.failed("cuInit", call(d.fn.init, 0)); err != nil {
		return d, err
	}
	var n int32
	if err := d.failed("cuDeviceGetCount", call(d.fn.count, uintptr(unsafe.Pointer(&n)))); err != nil { // safe: likewise
		return d, err
	}
	for i := range n {
		g, err := d.gpu(i)
		if err != nil {
			return d, fmt.Errorf("GPU %d: %w", i, err)
		}
		d.gpus = append(d.gpus, g)
	}
	return d, nil
}

// CUDA is the newest version of CUDA that the driver supports, 13000 for 13.0; 0: not known.
func (d *Driver) CUDA() int { return d.cuda }

// GPUs are those that this process may use, in their order.
func (d *Driver) GPUs() []GPU { return d.gpus }

// Attributes of the driver API.
const (
	attributeMajor = 75 // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
	attributeMinor = 76
)

func (d *Driver) gpu(number int32) (g GPU, err error) {
	var device, major, minor int32
	var name [256]byte
	var total uint64
	// safe: results are written to variables of the C type's size, whose addresses call keeps alive
	if err := d.failed("cuDeviceGet", call(d.fn.device, uintptr(unsafe.Pointer(&device)), uintptr(number))); err != nil {
		return g, err
	}
	if err := d.failed("cuDeviceGetName", call(d.fn.name, uintptr(unsafe.Pointer(&name)), uintptr(len(name)-1), uintptr(device))); err != nil {
		return g, err
	}
	if err := d.failed("cuDeviceTotalMem", call(d.fn.total, uintptr(unsafe.Pointer(&total)), uintptr(device))); err != nil {
		return g, err
	}
	if err := d.failed("cuDeviceGetAttribute", call(d.fn.attribute, uintptr(unsafe.Pointer(&major)), attributeMajor, uintptr(device))); err != nil {
		return g, err
	}
	if err := d.failed("cuDeviceGetAttribute", call(d.fn.attribute, uintptr(unsafe.Pointer(&minor)), attributeMinor, uintptr(device))); err != nil {
		return g, err
	}
	return GPU{Name: text(name[:]), Major: int(major), Minor: int(minor), Memory: int64(total)}, nil
}

// Free is how many bytes of a GPU's memory nobody has taken, with what every process that uses it takes already taken by this one. The
// calling goroutine must be locked to its thread, whose GPU it becomes.
func (d *Driver) Free(number int) (int64, error) {
	var context uintptr
	var free, total uint64
	// safe: as in gpu
	if err := d.failed("cuDevicePrimaryCtxRetain", call(d.fn.retain, uintptr(unsafe.Pointer(&context)), uintptr(number))); err != nil {
		return 0, err
	}
	if err := d.failed("cuCtxSetCurrent", call(d.fn.setCurrent, context)); err != nil {
		return 0, err
	}
	if err := d.failed("cuMemGetInfo", call(d.fn.memory, uintptr(unsafe.Pointer(&free)), uintptr(unsafe.Pointer(&total)))); err != nil {
		return 0, err
	}
	return int64(free), nil
}

// failed turns a CUresult into an error; nil for success.
func (d *Driver) failed(function string, result uintptr) error {
	code := int32(uint32(result))
	if code == 0 {
		return nil
	}
	e := &DriverError{Call: function, Code: int(code)}
	var at uintptr
	if call(d.fn.errorText, uintptr(code), uintptr(unsafe.Pointer(&at))) == 0 { // safe: a pointer-sized word, left at NULL for unknown codes
		e.Text = nativeString(at) // safe: a constant string of the driver, which stays loaded
	}
	return e
}
