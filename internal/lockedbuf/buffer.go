// Package lockedbuf has the buffer that tests read while what they test still writes to it, such as a log.
package lockedbuf

import (
	"bytes"
	"sync"
)

// Buffer is a bytes.Buffer that several goroutines may use. The zero value is empty and ready.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write appends p; it never fails.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String returns what has been written so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
