package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"
)

// Request is a file to download.
type Request struct {
	URL    string
	To     string // path of the finished file; its directory exists
	Bytes  int64  // that the file must have; 0: not known
	SHA256 string // that it must have, in hexadecimal; "": not known
	Token  string // sent as a bearer token to the URL's own host, and to no other that it redirects to; "": none
	Magic  string // what the file begins with; "": anything
	// Check is asked about the whole file before it gets its name; nil: anything goes.
	Check func(path string) error
}

// Result is what was downloaded.
type Result struct {
	Bytes   int64
	SHA256  string // as computed; "" with Present
	Proof   Proof
	Present bool // the file was there already, and was not looked at
}

// Proof says what a checksum was compared with.
type Proof string

// Values of Proof.
const (
	Asked   Proof = "request" // Request.SHA256
	Host    Proof = "host"    // a header of the host
	Nothing Proof = ""        // there was nothing to compare with
)

// Progress is how far a download is. Done never gets less while Total stays the same, but for a file that changed on the host.
type Progress struct {
	Done, Total int64 // bytes; Total 0: not known
	Checking    bool  // what came in an earlier call is read again, for its checksum
}

// Fetcher downloads. The zero value does, with the defaults stated; safe for concurrent use.
type Fetcher struct {
	Transport http.RoundTripper                // default: http.DefaultTransport, which takes its proxy from the environment
	Agent     string                           // User-Agent; default: "tokenrouter"
	Attempts  int                              // tries in a row that bring nothing new; default 6
	Stall     time.Duration                    // longest silence of the host; default 1 minute
	Pause     time.Duration                    // after the first failed try, doubled after each further one; default 1 s
	Free      func(dir string) (uint64, error) // bytes that the disk has room for; default: asks the system
	Progress  func(Progress)                   // called several times a second at most times; may be nil
	Notice    func(string)                     // hears, in plain words, of tries that failed and of waiting; may be nil
}

const (
	longestPause = 30 * time.Second
	maxRestarts  = 5
	// reserve is what stays free on the disk.
	reserve = 64 << 20
)

// File downloads a file. A second call for the same file, in this process or another, waits for the first and finds it done.
// After an error, what has come stays for the next call, unless it is known to be wrong. Errors wrap those of this package.
func (f *Fetcher) File(ctx context.Context, r Request) (Result, error) {
	p, err := openPart(ctx, r, f.notice)
	if err != nil {
		return Result{}, err
	}
	if p == nil {
		info, err := os.Stat(r.To)
		if err != nil {
			return Result{}, fmt.Errorf("fetch: %w", err)
		}
		return Result{Bytes: info.Size(), Present: true}, nil
	}
	defer p.close()
	if err := f.whole(ctx, r, p); err != nil {
		return Result{}, fmt.Errorf("%s: %w", r.URL, err)
	}
	proof, err := p.finish(r)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", r.URL, err)
	}
	return Result{Bytes: p.size, SHA256: p.sum(), Proof: proof}, nil
}

// whole tries until the part is the whole file.
func (f *Fetcher) whole(ctx context.Context, r Request, p *part) error {
	if err := p.rehash(ctx, r, f.progress); err != nil {
		return err
	}
	idle, restarts := 0, 0
	for {
		before := p.size
		err := f.attempt(ctx, r, p)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var again *startOver
		var passing *temporary
		switch {
		case errors.As(err, &again):
			if restarts++; restarts > maxRestarts {
				return fmt.Errorf("began anew %d times: %w", maxRestarts, err)
			}
			if err := p.reset(); err != nil {
				return err
			}
		case !errors.As(err, &passing):
			return err
		case p.size > before:
			idle = 0
		}
		if idle++; idle >= cmp.Or(f.Attempts, 6) {
			kept := ""
			if p.size > 0 && p.trusted(r) {
				kept = "; what has come is kept, and the same command goes on from there"
			}
			return fmt.Errorf("gave up after %d tries: %w%s", idle, err, kept)
		}
		pause := min(cmp.Or(f.Pause, time.Second)<<min(idle-1, 10), longestPause)
		if passing != nil && passing.after > pause {
			pause = min(passing.after, 10*longestPause)
		}
		f.notice(fmt.Sprintf("%v; trying again in %s", err, pause.Round(time.Millisecond)))
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (f *Fetcher) notice(text string) {
	if f.Notice != nil {
		f.Notice(text)
	}
}

func (f *Fetcher) progress(p Progress) {
	if f.Progress != nil {
		f.Progress(p)
	}
}

// Room says whether the disk of a directory can take so many bytes more; the error wraps ErrSpace.
func (f *Fetcher) Room(dir string, bytes int64) error {
	ask := f.Free
	if ask == nil {
		ask = FreeSpace
	}
	free, err := ask(dir)
	if err != nil {
		return nil // a file system that does not tell may still have room; writing will show
	}
	if bytes > 0 && uint64(bytes)+reserve > free {
		return fmt.Errorf("%w: %s more are needed and %s has %s free: make room, or choose another directory", ErrSpace, Size(bytes), dir, Size(int64(free)))
	}
	return nil
}

// Size writes a number of bytes for people: "1.1 GB".
func Size(n int64) string {
	const units = "kMGTPE"
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	v, i := float64(n)/1000, 0
	for v >= 999.95 && i < len(units)-1 {
		v /= 1000
		i++
	}
	return fmt.Sprintf("%.1f %cB", v, units[i])
}
