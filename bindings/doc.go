// Package bindings binds the C ABI of libtokenrouter (native/include/tokenrouter.h) without cgo, by purego. It is the
// only package of the module that sees an unsafe pointer.
//
// One file per concept of the header: library.go (opening, ABI version), status.go, device.go, model.go, arena.go,
// step.go. Above each function that calls into the library stands the C prototype; tests compare those prototypes, the
// symbol table, every constant and the layout of every struct with the header.
//
//	library, err := bindings.Load("")
//	device, err := library.OpenDevice(bindings.DeviceOptions{Threads: 2})
//	model, err := device.LoadModel(path, bindings.ModelOptions{})
//	arena, err := model.NewArena(bindings.ArenaOptions{Pages: 256})
//	batch := arena.NewBatch()
//	...
//	err = arena.Step(batch)
//
// # Lifetimes
//
// Devices, models and arenas are closed explicitly and in order: arenas, their model, the device. Close may be called
// twice; it waits for calls that are running, and refuses with [ErrInUse] while something made from the handle is open.
// A call on a closed handle is [ErrClosed]. There are no finalizers.
//
// # Memory
//
// What a call passes is memory of the Go heap in C layout. That is safe because the garbage collector does not move heap
// objects, because every pointer in these structs that leads to Go memory is a typed Go pointer (so that what it leads to
// is found alive through the struct), and because the struct itself is kept alive until the call has returned. The
// library keeps no pointer to caller memory beyond a call. Pointers that the library writes lead to its own memory; they
// are kept as uintptr, which the garbage collector does not look at.
//
// # Scheduling
//
// A call enters the Go runtime's system-call state (purego calls runtime.cgocall): the goroutine keeps its operating
// system thread, and the runtime's monitor gives the processor slot (P) to another thread as soon as goroutines wait for
// one and the call lasts longer than a monitor round (20 microseconds when the program is busy). A long step therefore
// holds a thread and no slot: other goroutines and the garbage collector go on.
package bindings
