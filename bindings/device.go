package bindings

import "unsafe"

// deviceHandle is a tr_device *, held as a number: it leads to the library's memory.
type deviceHandle uintptr

// deviceParams is tr_device_params.
type deviceParams struct {
	size     uint32
	nThreads int32
	kind     *byte
	isa      *byte
}

// deviceInfo is tr_device_info.
type deviceInfo struct {
	size     uint32
	nThreads int32
	kind     uintptr
	isa      uintptr
	joins    uint64
	parks    uint64
}

// DeviceOptions say what device to open. The zero value is the CPU with all cores and its best instruction set.
type DeviceOptions struct {
	Threads int    // threads a step runs on, the calling one included; 0: all cores this process may use
	Kind    string // "" or "cpu"; in the CUDA build "cuda", too, and "cuda:1" for the second GPU
	ISA     string // "": the environment's TR_CPU_ISA, else the best; "reference", "avx2", "avxvnni", "avx512vnni"
}

// DeviceInfo is what a device is.
type DeviceInfo struct {
	Threads int
	Kind    string
	ISA     string // in use
	Joins   uint64 // thread-pool joins since the process began
	Parks   uint64 // times a worker of the pool went to sleep
}

// Device runs models. Safe for concurrent use.
type Device struct {
	resource
	library *Library
	handle  deviceHandle
}

// OpenDevice opens a device. All CPU devices of a process share one thread pool: while one with Threads > 0 is open, another
// number is [ErrArgument].
func (l *Library) OpenDevice(o DeviceOptions) (*Device, error) {
	threads, err := int32Of("threads", o.Threads)
	if err != nil {
		return nil, err
	}
	kind, err := cString("device kind", o.Kind)
	if err != nil {
		return nil, err
	}
	isa, err := cString("instruction set", o.ISA)
	if err != nil {
		return nil, err
	}
	params := deviceParams{nThreads: threads, kind: kind, isa: isa}
	params.size = uint32(unsafe.Sizeof(params)) // safe: a constant
	d := &Device{library: l}
	d.kind = "device"
	if err := l.deviceOpen(&params, &d.handle); err != nil {
		return nil, err
	}
	return d, nil
}

// tr_status tr_device_open(const tr_device_params *params, tr_device **out, char *err, size_t err_len);
func (l *Library) deviceOpen(params *deviceParams, out *deviceHandle) error {
	var text message
	status := call(l.fn.deviceOpen,
		uintptr(unsafe.Pointer(params)),              // safe: mirrors tr_device_params; kept alive by call
		uintptr(unsafe.Pointer(out)),                 // safe: one pointer-sized word; kept alive by call
		uintptr(unsafe.Pointer(&text)), messageBytes) // safe: the length goes along; kept alive by call
	return text.failure("tr_device_open", status)
}

// Describe says what the device is, and how its thread pool has fared so far.
func (d *Device) Describe() (DeviceInfo, error) {
	if err := d.use(); err != nil {
		return DeviceInfo{}, err
	}
	defer d.release()
	var info deviceInfo
	info.size = uint32(unsafe.Sizeof(info)) // safe: a constant
	if err := d.describe(&info); err != nil {
		return DeviceInfo{}, err
	}
	return DeviceInfo{
		Threads: int(info.nThreads),
		Kind:    nativeString(info.kind), // safe: lives as long as the device, which use holds open
		ISA:     nativeString(info.isa),  // safe: likewise
		Joins:   info.joins,
		Parks:   info.parks,
	}, nil
}

// tr_status tr_device_describe(const tr_device *device, tr_device_info *info, char *err, size_t err_len);
func (d *Device) describe(info *deviceInfo) error {
	var text message
	status := call(d.library.fn.deviceDescribe, uintptr(d.handle),
		uintptr(unsafe.Pointer(info)),                // safe: mirrors tr_device_info; kept alive by call
		uintptr(unsafe.Pointer(&text)), messageBytes) // safe: the length goes along; kept alive by call
	return text.failure("tr_device_describe", status)
}

// Close closes the device. [ErrInUse] while a model on it is open.
//
// void tr_device_close(tr_device *device);
func (d *Device) Close() error {
	return d.close(func() { call(d.library.fn.deviceClose, uintptr(d.handle)) })
}
