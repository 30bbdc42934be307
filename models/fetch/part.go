package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// part is a file that is not whole yet, locked for this call.
type part struct {
	path string
	file *os.File
	size int64
	hash hash.Hash
	origin
}

// origin says what a part is a part of; kept beside it.
type origin struct {
	URL       string `json:"url"`
	Validator string `json:"validator"` // a strong ETag or a date, to be sent with If-Range
	Total     int64  `json:"total"`     // bytes of the whole file; 0: not known
	SHA256    string `json:"sha256"`    // that the host stated
}

func partOf(path string) string   { return path + ".part" }
func originOf(path string) string { return partOf(path) + ".json" }

// Discard removes what is left of a download to that path that was not finished. One that is going on is an error.
func Discard(path string) error {
	file, err := os.OpenFile(partOf(path), os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("fetch: %w", err)
	}
	defer file.Close()
	if locked, err := lock(file); err != nil || !locked {
		return errors.Join(fmt.Errorf("fetch: %s is being downloaded", path), err)
	}
	os.Remove(originOf(path))
	return os.Remove(partOf(path))
}

// openPart opens and locks the part of a file, waiting for whoever has it; nil if the whole file is there.
func openPart(ctx context.Context, r Request, notice func(string)) (*part, error) {
	told := false
	for {
		if _, err := os.Stat(r.To); err == nil {
			return nil, nil
		}
		path := partOf(r.To)
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return nil, fmt.Errorf("fetch: %w", err)
		}
		locked, err := lock(file)
		if err != nil {
			file.Close()
			return nil, fmt.Errorf("fetch: lock %s: %w", path, err)
		}
		if locked && named(file, path) {
			if _, err := os.Stat(r.To); err != nil { // else it was finished between the two looks
				return newPart(path, file, r)
			}
			os.Remove(path)
			file.Close()
			return nil, nil
		}
		file.Close()
		if locked {
			continue // it was finished or removed before the lock was had
		}
		if !told {
			notice(filepath.Base(r.To) + " is being downloaded by another process; waiting for it")
			told = true
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// named reports whether the open file is the one at the path.
func named(file *os.File, path string) bool {
	a, err1 := file.Stat()
	b, err2 := os.Stat(path)
	return err1 == nil && err2 == nil && os.SameFile(a, b)
}

func newPart(path string, file *os.File, r Request) (*part, error) {
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("fetch: %w", err)
	}
	p := &part{path: path, file: file, size: info.Size(), hash: sha256.New()}
	text, err := os.ReadFile(originOf(r.To))
	if err != nil || json.Unmarshal(text, &p.origin) != nil || p.URL != r.URL || !p.trusted(r) || p.Total > 0 && p.size > p.Total {
		if err := p.reset(); err != nil {
			file.Close()
			return nil, err
		}
	}
	return p, nil
}

// trusted reports whether a part can be gone on with: the host can say whether its file is the same, or a checksum will.
func (p *part) trusted(r Request) bool { return p.Validator != "" || r.SHA256 != "" || p.SHA256 != "" }

// reset empties the part.
func (p *part) reset() error {
	p.size, p.origin = 0, origin{}
	p.hash.Reset()
	if err := p.file.Truncate(0); err != nil {
		return fmt.Errorf("fetch: %w", err)
	}
	_, err := p.file.Seek(0, io.SeekStart)
	return err
}

// begin notes what the bytes that follow are a part of.
func (p *part) begin(o origin) error {
	p.origin = o
	text, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("fetch: %w", err)
	}
	if err := os.WriteFile(p.path+".json", text, 0o644); err != nil {
		return wrapDisk(err)
	}
	return nil
}

// rehash reads what came earlier, for the checksum.
func (p *part) rehash(ctx context.Context, r Request, progress func(Progress)) error {
	size := p.size
	p.hash.Reset()
	buffer := make([]byte, 1<<20)
	for done := int64(0); done < size; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n, err := p.file.ReadAt(buffer[:min(int64(len(buffer)), size-done)], done)
		p.hash.Write(buffer[:n])
		done += int64(n)
		if err != nil && (!errors.Is(err, io.EOF) || done < size) {
			return fmt.Errorf("read what came before: %w", err)
		}
		progress(Progress{Done: done, Total: max(p.Total, r.Bytes), Checking: true})
	}
	_, err := p.file.Seek(size, io.SeekStart)
	return err
}

// Write implements io.Writer.
func (p *part) Write(b []byte) (int, error) {
	n, err := p.file.Write(b)
	p.hash.Write(b[:n])
	p.size += int64(n)
	if err != nil {
		err = wrapDisk(err)
	}
	return n, err
}

func wrapDisk(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w: the disk is full: make room, and the same command goes on from here (%w)", ErrSpace, err)
	}
	return fmt.Errorf("write what came: %w", err)
}

func (p *part) sum() string { return hex.EncodeToString(p.hash.Sum(nil)) }

// finish checks the whole file and gives it its name.
func (p *part) finish(r Request) (Proof, error) {
	if r.Bytes > 0 && p.size != r.Bytes {
		p.forget()
		return Nothing, fmt.Errorf("%w: it has %d bytes, expected %d; it was removed", ErrOther, p.size, r.Bytes)
	}
	proof := Nothing
	for _, want := range []struct {
		sum   string
		proof Proof
		whose string
	}{{r.SHA256, Asked, "the record"}, {p.SHA256, Host, "the host"}} {
		if want.sum == "" {
			continue
		}
		if got := p.sum(); !strings.EqualFold(got, want.sum) {
			p.forget()
			return Nothing, fmt.Errorf("%w: the sha256 of what came is %s, %s says %s; it was removed, try again", ErrChecksum, got, want.whose, want.sum)
		}
		if proof == Nothing {
			proof = want.proof
		}
	}
	if err := p.file.Sync(); err != nil {
		return Nothing, wrapDisk(err)
	}
	if r.Check != nil {
		if err := r.Check(p.path); err != nil {
			p.forget()
			return Nothing, fmt.Errorf("what came is not what it should be, and was removed: %w", err)
		}
	}
	if err := os.Rename(p.path, r.To); err != nil {
		return Nothing, fmt.Errorf("fetch: %w", err)
	}
	os.Remove(p.path + ".json")
	if dir, err := os.Open(filepath.Dir(r.To)); err == nil {
		_ = dir.Sync() // the file is whole; that its name outlives a power cut is not worth a failure
		dir.Close()
	}
	return proof, nil
}

// forget removes the part.
func (p *part) forget() {
	os.Remove(p.path + ".json")
	os.Remove(p.path)
}

// close unlocks the part. An empty one is not left behind.
func (p *part) close() {
	if p.size == 0 && named(p.file, p.path) {
		p.forget()
	}
	p.file.Close()
}
