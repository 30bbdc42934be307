package bindings

import "unsafe"

// Constants of the header.
const (
	PageTokens = 32  // tokens of one page of the KV cache
	MaxTop     = 128 // most ids that a row can ask for in TopIDs

	defaultMaxTokens = 512 // what tr_arena_params.max_tokens 0 means
	defaultMaxRows   = 64  // what tr_arena_params.max_rows 0 means
)

// arenaHandle is a tr_arena *.
type arenaHandle uintptr

// arenaParams is tr_arena_params.
type arenaParams struct {
	size      uint32
	nPages    int32
	maxTokens int32
	maxRows   int32
	kvType    int32
}

// arenaInfo is tr_arena_info.
type arenaInfo struct {
	size        uint32
	hasGraphs   int32
	steps       uint64
	graphHits   uint64
	graphMisses uint64
}

// KVType is how keys and values are stored.
type KVType int32

// The kinds of KV cache.
const (
	KVF16 KVType = 0
	KVQ80 KVType = 1 // Q8_0: blocks of 32 dimensions, 8 bits each and a scale; for heads of a multiple of 32 dimensions
)

// Bytes is what a token takes that takes f16 bytes in half floats.
func (t KVType) Bytes(f16 uint64) uint64 {
	if t == KVQ80 {
		return f16 / 64 * 34 // 32 bytes and a half float in place of 32 half floats
	}
	return f16
}

// ArenaOptions are the sizes of an arena.
type ArenaOptions struct {
	Pages     int // pages of PageTokens tokens, at least 1
	MaxTokens int // most tokens that one step may append over all its segments; 0: 512
	MaxRows   int // most rows that one step may ask for; 0: 64
	KV        KVType
}

// Arena is the KV cache of one model and the working memory of steps on it, allocated once. Which page belongs to whom is
// the caller's bookkeeping. Steps on one arena run one at a time (a second one waits); arenas are independent.
type Arena struct {
	resource
	library *Library
	handle  arenaHandle
	options ArenaOptions
	info    ModelInfo
}

// NewArena allocates an arena. Errors: [ErrArgument], [ErrUnsupported] (the kind of cache), [ErrNoMemory].
func (m *Model) NewArena(o ArenaOptions) (*Arena, error) {
	if o.MaxTokens == 0 {
		o.MaxTokens = defaultMaxTokens
	}
	if o.MaxRows == 0 {
		o.MaxRows = defaultMaxRows
	}
	params := arenaParams{kvType: int32(o.KV)}
	params.size = uint32(unsafe.Sizeof(params)) // safe: a constant
	for _, field := range []struct {
		name string
		from int
		to   *int32
	}{{"pages", o.Pages, &params.nPages}, {"max tokens", o.MaxTokens, &params.maxTokens}, {"max rows", o.MaxRows, &params.maxRows}} {
		var err error
		if *field.to, err = int32Of(field.name, field.from); err != nil {
			return nil, err
		}
	}
	if err := m.use(); err != nil {
		return nil, err
	}
	defer m.release()
	a := &Arena{library: m.library, options: o, info: m.info}
	if err := m.arenaCreate(&params, &a.handle); err != nil {
		return nil, err
	}
	m.adopt(&a.resource, "arena")
	return a, nil
}

// tr_status tr_arena_create(tr_model *model, const tr_arena_params *params, tr_arena **out, char *err, size_t err_len);
func (m *Model) arenaCreate(params *arenaParams, out *arenaHandle) error {
	var text message
	status := call(m.library.fn.arenaCreate, uintptr(m.handle),
		uintptr(unsafe.Pointer(params)),              // safe: mirrors tr_arena_params; kept alive by call
		uintptr(unsafe.Pointer(out)),                 // safe: one pointer-sized word; kept alive by call
		uintptr(unsafe.Pointer(&text)), messageBytes) // safe: the length goes along; kept alive by call
	return text.failure("tr_arena_create", status)
}

// Options are the sizes that the arena was made with, defaults filled in.
func (a *Arena) Options() ArenaOptions { return a.options }

// Info says what the arena's model is.
func (a *Arena) Info() ModelInfo { return a.info }

// ArenaCounts is what an arena has done since it was made.
type ArenaCounts struct {
	Steps                  uint64 // that succeeded
	Graphs                 bool   // steps of one shape are recorded, and run from the recording as a whole
	GraphHits, GraphMisses uint64 // steps that were run from a recording, and others; 0 without Graphs
}

// Describe says what the arena has done; during a step, too.
func (a *Arena) Describe() (ArenaCounts, error) {
	if err := a.use(); err != nil {
		return ArenaCounts{}, err
	}
	defer a.release()
	var info arenaInfo
	info.size = uint32(unsafe.Sizeof(info)) // safe: a constant
	if err := a.describe(&info); err != nil {
		return ArenaCounts{}, err
	}
	return ArenaCounts{Steps: info.steps, Graphs: info.hasGraphs != 0, GraphHits: info.graphHits, GraphMisses: info.graphMisses}, nil
}

// tr_status tr_arena_describe(const tr_arena *arena, tr_arena_info *info, char *err, size_t err_len);
func (a *Arena) describe(info *arenaInfo) error {
	var text message
	status := call(a.library.fn.arenaDescribe, uintptr(a.handle),
		uintptr(unsafe.Pointer(info)),                // safe: mirrors tr_arena_info; kept alive by call
		uintptr(unsafe.Pointer(&text)), messageBytes) // safe: the length goes along; kept alive by call
	return text.failure("tr_arena_describe", status)
}

// CopyPage copies the keys and values of page from into page to, all layers: what a fork of a half-filled page needs. No
// step may be using either page.
//
// tr_status tr_arena_copy_page(tr_arena *arena, int32_t from, int32_t to, char *err, size_t err_len);
func (a *Arena) CopyPage(from, to int32) error {
	if err := a.use(); err != nil {
		return err
	}
	defer a.release()
	var text message
	status := call(a.library.fn.arenaCopyPage, uintptr(a.handle), uintptr(uint32(from)), uintptr(uint32(to)),
		uintptr(unsafe.Pointer(&text)), messageBytes) // safe: the length goes along; kept alive by call
	return text.failure("tr_arena_copy_page", status)
}

// Close frees the arena. Slices in answers of its batches must not be used any more.
//
// void tr_arena_free(tr_arena *arena);
func (a *Arena) Close() error {
	return a.close(func() { call(a.library.fn.arenaFree, uintptr(a.handle)) })
}
