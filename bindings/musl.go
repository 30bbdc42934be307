package bindings

import "strings"

// usesMusl reports whether the mapped files of a process (in the format of /proc/PID/maps) hold musl's loader.
func usesMusl(maps string) bool {
	return strings.Contains(maps, "/ld-musl-") || strings.Contains(maps, "/libc.musl-")
}
