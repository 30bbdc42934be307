package bindings

import "unsafe"

// Convert converts weights from one storage format to another, both as ggml's type ids, by way of float32, rounded to
// nearest: src holds whole blocks of from, dst has exactly the room for as many weights in blocks of to. Safe for
// concurrent use on different dst. Errors: [ErrArgument] (sizes), [ErrUnsupported] (a type, or weights too large for it),
// [ErrFormat] (weights that are not finite).
//
// tr_status tr_convert(uint32_t from, const void *src, size_t src_bytes, uint32_t to, void *dst, size_t dst_bytes, char *err, size_t err_len);
func (l *Library) Convert(from uint32, src []byte, to uint32, dst []byte) error {
	if len(src) == 0 && len(dst) == 0 {
		return nil
	}
	var text message
	status := call(l.fn.convert, uintptr(from),
		uintptr(unsafe.Pointer(unsafe.SliceData(src))), uintptr(len(src)), // safe: the length goes along; kept alive by call
		uintptr(to),
		uintptr(unsafe.Pointer(unsafe.SliceData(dst))), uintptr(len(dst)), // safe: likewise
		uintptr(unsafe.Pointer(&text)), messageBytes) // safe: likewise
	return text.failure("tr_convert", status)
}
