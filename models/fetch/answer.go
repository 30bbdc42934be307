package fetch

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// describe takes from an answer, and those that led to it, what tells the file: a validator and a checksum.
func describe(a *http.Response, hops []http.Header) origin {
	o := origin{Validator: validator(a.Header), SHA256: checksum(a.Header)}
	for _, h := range hops { // hubs state the checksum where they redirect to the store of the file
		if o.SHA256 == "" {
			o.SHA256 = checksum(h)
		}
	}
	return o
}

// validator is what If-Range can be asked with: a strong ETag, or else the date (RFC 9110, 13.1.5).
func validator(h http.Header) string {
	if tag := h.Get("ETag"); len(tag) >= 2 && tag[0] == '"' && tag[len(tag)-1] == '"' {
		return tag
	}
	if h.Get("ETag") != "" { // weak: the bytes may differ
		return ""
	}
	return h.Get("Last-Modified")
}

var sha256Hex = regexp.MustCompile(`^[0-9a-fA-F]{64}$`)

// checksum is the SHA-256 of the whole file that a header states: Repr-Digest (RFC 9530), Digest (RFC 3230), X-Linked-ETag of
// model hubs, X-Checksum-Sha256 of artefact stores. "": none does.
func checksum(h http.Header) string {
	for _, name := range []string{"X-Linked-ETag", "X-Checksum-Sha256"} {
		if v := strings.Trim(h.Get(name), `"`); sha256Hex.MatchString(v) {
			return strings.ToLower(v)
		}
	}
	for _, name := range []string{"Repr-Digest", "Digest"} {
		for entry := range strings.SplitSeq(h.Get(name), ",") {
			algorithm, value, _ := strings.Cut(strings.TrimSpace(entry), "=")
			sum, err := base64.StdEncoding.DecodeString(strings.Trim(value, ":"))
			if strings.EqualFold(algorithm, "sha-256") && err == nil && len(sum) == 32 {
				return hex.EncodeToString(sum)
			}
		}
	}
	return ""
}

// refusal is the error of an answer that brings no file.
func refusal(a *http.Response) error {
	said := ""
	if text, _ := io.ReadAll(io.LimitReader(a.Body, 200)); strings.HasPrefix(a.Header.Get("Content-Type"), "text/plain") || strings.HasPrefix(a.Header.Get("Content-Type"), "application/json") {
		if line := strings.TrimSpace(strings.ToValidUTF8(string(text), "")); line != "" {
			said = fmt.Sprintf(": %q", line)
		}
	}
	status := fmt.Sprintf("%d %s%s", a.StatusCode, http.StatusText(a.StatusCode), said)
	switch code := a.StatusCode; {
	case code == http.StatusNotFound || code == http.StatusGone:
		return fmt.Errorf("%w (%s)", ErrNotFound, status)
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return fmt.Errorf("%w (%s)", ErrDenied, status)
	case code == http.StatusRequestTimeout || code == http.StatusTooManyRequests || code >= 500 && code != http.StatusNotImplemented:
		return &temporary{err: fmt.Errorf("the host answered %s", status), after: retryAfter(a.Header.Get("Retry-After"))}
	default:
		return fmt.Errorf("the host answered %s", status)
	}
}

func retryAfter(text string) time.Duration {
	if seconds, err := strconv.Atoi(text); err == nil && seconds > 0 {
		return time.Duration(min(seconds, 3600)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}
