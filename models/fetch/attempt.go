package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

var errStalled = errors.New("the host sent nothing for too long")

// attempt asks once for what is missing, and adds it to the part. nil: the part is whole.
func (f *Fetcher) attempt(ctx context.Context, r Request, p *part) error {
	if total := p.whole(r); total > 0 && p.size == total {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stall := cmp.Or(f.Stall, time.Minute)
	timer := time.AfterFunc(stall, func() { cancel(errStalled) })
	defer timer.Stop()

	answer, hops, err := f.ask(ctx, http.MethodGet, r, p)
	if err != nil {
		if errors.Is(context.Cause(ctx), errStalled) {
			err = &temporary{err: errStalled}
		}
		return err
	}
	defer answer.Body.Close()
	o := describe(answer, hops)
	o.URL = r.URL
	done, err := p.accept(answer, o, r)
	if err != nil || done {
		return err
	}
	if err := f.Room(filepath.Dir(r.To), p.whole(r)-p.size); err != nil {
		return err
	}
	err = f.copy(answer.Body, r, p, func() { timer.Reset(stall) })
	if errors.Is(context.Cause(ctx), errStalled) {
		return &temporary{err: errStalled}
	}
	return err
}

// whole is how many bytes the whole file has, as far as that is known.
func (p *part) whole(r Request) int64 { return max(p.Total, r.Bytes) }

// ask sends the request and follows its redirects.
func (f *Fetcher) ask(ctx context.Context, method string, r Request, p *part) (*http.Response, []http.Header, error) {
	var hops []http.Header
	client := &http.Client{Transport: f.Transport, CheckRedirect: func(next *http.Request, via []*http.Request) error {
		last := via[len(via)-1]
		switch scheme := next.URL.Scheme; {
		case len(via) >= 10:
			return fmt.Errorf("%w: more than %d of them", errRedirect, len(via))
		case scheme != "https" && scheme != "http":
			return fmt.Errorf("%w: to %s, want http or https", errRedirect, scheme)
		case last.URL.Scheme == "https" && scheme != "https":
			return fmt.Errorf("%w: from https to %s, which anybody could change", errRedirect, scheme)
		}
		if next.URL.Host != via[0].URL.Host || next.URL.Scheme != via[0].URL.Scheme {
			next.Header.Del("Authorization")
		}
		hops = append(hops, next.Response.Header)
		return nil
	}}
	request, err := http.NewRequestWithContext(ctx, method, r.URL, http.NoBody)
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set("User-Agent", cmp.Or(f.Agent, "tokenrouter"))
	request.Header.Set("Accept-Encoding", "identity") // bytes of ranges are those of the file
	if r.Token != "" {
		request.Header.Set("Authorization", "Bearer "+r.Token)
	}
	if p.size > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", p.size))
		if p.Validator != "" {
			request.Header.Set("If-Range", p.Validator)
		}
	}
	answer, err := client.Do(request)
	switch {
	case errors.Is(err, errRedirect): // another try would be led there, too
		return nil, nil, err
	case err != nil:
		return nil, nil, passing("cannot reach the host: %w", err)
	}
	return answer, hops, nil
}

// Length asks how long a file is, for a reckoning before its download; 0: the host does not say.
func (f *Fetcher) Length(ctx context.Context, r Request) int64 {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	answer, _, err := f.ask(ctx, http.MethodHead, r, &part{})
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return 0
	}
	return max(answer.ContentLength, 0)
}

// accept looks at the head of an answer: whether its body goes on where the part ends. It prepares the part, and returns
// true if there is nothing to come.
func (p *part) accept(a *http.Response, o origin, r Request) (done bool, err error) {
	switch a.StatusCode {
	case http.StatusOK:
		if p.size > 0 { // the host does not continue, or its file has changed
			if err := p.reset(); err != nil {
				return false, err
			}
		}
		o.Total = max(a.ContentLength, 0)
	case http.StatusPartialContent:
		first, total, ok := contentRange(a.Header.Get("Content-Range"))
		switch {
		case !ok || first != p.size:
			return false, useless("the host answered with Content-Range %q to a request for the bytes from %d on", a.Header.Get("Content-Range"), p.size)
		case p.Total > 0 && total > 0 && total != p.Total, p.SHA256 != "" && o.SHA256 != "" && p.SHA256 != o.SHA256,
			p.SHA256 == "" && p.Validator != "" && o.Validator != "" && p.Validator != o.Validator:
			return false, useless("the file on the host has changed")
		}
		if p.size > 0 {
			o = p.origin
		}
		o.Total = max(o.Total, total)
	case http.StatusRequestedRangeNotSatisfiable:
		if _, total, _ := contentRange(a.Header.Get("Content-Range")); p.size > 0 && total == p.size {
			p.Total = total
			return true, nil
		}
		return false, useless("the host has no bytes from %d on: its file has changed", p.size)
	default:
		return false, refusal(a)
	}
	if coding := a.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return false, fmt.Errorf("the host sends the file encoded as %s, though it was asked not to", coding)
	}
	if r.Bytes > 0 && o.Total > 0 && o.Total != r.Bytes {
		return false, fmt.Errorf("%w: it has %d bytes, expected %d", ErrOther, o.Total, r.Bytes)
	}
	if r.SHA256 != "" && o.SHA256 != "" && !strings.EqualFold(r.SHA256, o.SHA256) {
		return false, fmt.Errorf("%w: its sha256 is %s by the host's account, expected %s", ErrOther, o.SHA256, r.SHA256)
	}
	return false, p.begin(o)
}

// copy adds the body to the part.
func (f *Fetcher) copy(body io.Reader, r Request, p *part, alive func()) error {
	buffer := make([]byte, 1<<18)
	var last time.Time
	for {
		n, err := body.Read(buffer)
		alive()
		if n > 0 {
			if p.size == 0 {
				var more int
				if more, err = fill(body, buffer[:len(r.Magic)], n, err); more > n {
					n = more
				}
				if !strings.HasPrefix(string(buffer[:n]), r.Magic) && (n >= len(r.Magic) || err == nil || errors.Is(err, io.EOF)) {
					return fmt.Errorf("%w: it does not begin with %q, but with %q: a page of the host, perhaps, that asks to sign in or to accept a licence",
						ErrOther, r.Magic, buffer[:min(n, 16)])
				}
			}
			if total := p.whole(r); total > 0 && p.size+int64(n) > total {
				return useless("the host sends more than the %d bytes that it said", total)
			}
			if _, werr := p.Write(buffer[:n]); werr != nil {
				return werr
			}
			if now := time.Now(); now.Sub(last) > 50*time.Millisecond {
				last = now
				f.progress(Progress{Done: p.size, Total: p.whole(r)})
			}
		}
		switch total := p.whole(r); {
		case errors.Is(err, io.EOF) && (total == 0 || p.size == total):
			f.progress(Progress{Done: p.size, Total: p.size})
			return nil
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return passing("the connection was cut after %d of %d bytes", p.size, total)
		case err != nil:
			return passing("after %d bytes: %w", p.size, err)
		}
	}
}

// fill reads until the first bytes of a file are there.
func fill(body io.Reader, into []byte, n int, err error) (int, error) {
	for n < len(into) && err == nil {
		var more int
		more, err = body.Read(into[n:])
		n += more
	}
	return n, err
}

// contentRange reads "bytes FIRST-LAST/TOTAL" and "bytes */TOTAL"; total is 0 where it is not said.
func contentRange(text string) (first, total int64, ok bool) {
	spec, found := strings.CutPrefix(strings.TrimSpace(text), "bytes ")
	span, size, slash := strings.Cut(spec, "/")
	if !found || !slash {
		return 0, 0, false
	}
	if size != "*" {
		var err error
		if total, err = strconv.ParseInt(size, 10, 64); err != nil || total < 0 {
			return 0, 0, false
		}
	}
	if span == "*" {
		return 0, total, false
	}
	from, to, dash := strings.Cut(span, "-")
	first, err1 := strconv.ParseInt(from, 10, 64)
	last, err2 := strconv.ParseInt(to, 10, 64)
	return first, total, dash && err1 == nil && err2 == nil && first >= 0 && last >= first && (total == 0 || last < total)
}
