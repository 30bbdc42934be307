package bindings

import "fmt"

// symbols are the addresses of the library's functions.
type symbols struct {
	abiVersion, version                       uintptr
	deviceOpen, deviceDescribe, deviceClose   uintptr
	modelLoad, modelDescribe, modelFree       uintptr
	headLoad, headDescribe, headFree          uintptr
	arenaCreate, arenaDescribe, arenaCopyPage uintptr
	arenaFree, stepRun                        uintptr
	convert                                   uintptr
}

// table names them, in the order of the header.
func (s *symbols) table() []symbol {
	return []symbol{
		{"tr_abi_version", &s.abiVersion},
		{"tr_version", &s.version},
		{"tr_device_open", &s.deviceOpen},
		{"tr_device_describe", &s.deviceDescribe},
		{"tr_device_close", &s.deviceClose},
		{"tr_model_load", &s.modelLoad},
		{"tr_model_describe", &s.modelDescribe},
		{"tr_model_free", &s.modelFree},
		{"tr_head_load", &s.headLoad},
		{"tr_head_describe", &s.headDescribe},
		{"tr_head_free", &s.headFree},
		{"tr_arena_create", &s.arenaCreate},
		{"tr_arena_describe", &s.arenaDescribe},
		{"tr_arena_copy_page", &s.arenaCopyPage},
		{"tr_arena_free", &s.arenaFree},
		{"tr_step", &s.stepRun},
		{"tr_convert", &s.convert},
	}
}

type symbol struct {
	name    string
	address *uintptr
}

// bind looks every symbol up.
func (s *symbols) bind(object uintptr) error { return bindAll(s.table(), object) }

func bindAll(table []symbol, object uintptr) error {
	for _, symbol := range table {
		address, err := lookup(object, symbol.name)
		if err != nil {
			return fmt.Errorf("function %s is missing: %w", symbol.name, err)
		}
		*symbol.address = address
	}
	return nil
}
