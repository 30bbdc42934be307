package gguf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// cursor reads a file forwards through a small buffer, and never past end.
type cursor struct {
	r   io.ReaderAt
	end int64 // first byte that may not be read
	cut bool  // whether the file goes on behind end
	off int64 // next byte to read
	at  int64 // first byte of the field that was read or asked for last, for errors

	buf   []byte // bytes of the file from bufAt on
	bufAt int64
	back  []byte // backing of buf
}

const bufferSize = 64 << 10

func newCursor(r io.ReaderAt, size int64) *cursor {
	end := min(size, MaxHeader)
	return &cursor{r: r, end: end, cut: end < size, back: make([]byte, min(end, bufferSize))}
}

// left is how many bytes may still be read.
func (c *cursor) left() uint64 { return uint64(c.end - c.off) }

// need says whether n more bytes can be read; what names them in the error.
func (c *cursor) need(n uint64, what string) error {
	c.at = c.off
	if n > c.left() && c.cut {
		return fmt.Errorf("%s needs %d bytes and would end behind byte %d, the largest head that is read: %w", what, n, c.end, io.ErrUnexpectedEOF)
	}
	if n > c.left() {
		return fmt.Errorf("%s needs %d bytes, but %d are left: the file is truncated or a length in it is wrong: %w",
			what, n, c.left(), io.ErrUnexpectedEOF)
	}
	return nil
}

// bytes gives the next n <= bufferSize bytes, valid until the next call.
func (c *cursor) bytes(n int, what string) ([]byte, error) {
	if err := c.need(uint64(n), what); err != nil {
		return nil, err
	}
	at := c.off - c.bufAt
	if at < 0 || at+int64(n) > int64(len(c.buf)) {
		if err := c.fill(); err != nil {
			return nil, err
		}
		at = 0
	}
	c.off += int64(n)
	return c.buf[at : at+int64(n)], nil
}

// fill makes the buffer begin at off.
func (c *cursor) fill() error {
	want := min(int64(len(c.back)), c.end-c.off)
	if err := c.readAt(c.back[:want], c.off); err != nil {
		return err
	}
	c.buf, c.bufAt = c.back[:want], c.off
	return nil
}

func (c *cursor) readAt(p []byte, off int64) error {
	n, err := c.r.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("reading %d bytes at byte %d gave %d: %w", len(p), off, n, err)
}

// read fills p with the next bytes, of any number.
func (c *cursor) read(p []byte, what string) error {
	if err := c.need(uint64(len(p)), what); err != nil {
		return err
	}
	start := c.off
	for len(p) > 0 {
		n := min(len(p), bufferSize)
		b, err := c.bytes(n, what)
		if err != nil {
			return err
		}
		copy(p, b)
		p = p[n:]
	}
	c.at = start
	return nil
}

func (c *cursor) u32(what string) (uint32, error) {
	b, err := c.bytes(4, what)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

func (c *cursor) u64(what string) (uint64, error) {
	b, err := c.bytes(8, what)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b), nil
}

// strLen reads the length of a string and checks it.
func (c *cursor) strLen(limit uint64, what string) (int, error) {
	n, err := c.u64("the length of " + what)
	if err != nil {
		return 0, err
	}
	if n > limit {
		return 0, fmt.Errorf("%s is %d bytes long, at most %d are allowed", what, n, limit)
	}
	return int(n), c.need(n, what)
}

func (c *cursor) str(limit uint64, what string) (string, error) {
	n, err := c.strLen(limit, what)
	if err != nil {
		return "", err
	}
	p := make([]byte, n)
	if err := c.read(p, what); err != nil {
		return "", err
	}
	return string(p), nil
}
