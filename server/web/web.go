// Package web is the page that a browser finds at the server's address: a chat in which every token shows which model
// wrote it, and a view of the subservers. It is plain HTML, CSS and JavaScript, carried by the program; the page speaks to
// the server by its public API alone.
package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

// Prefix is the path below which the files of the page lie; the page itself is at "/".
const Prefix = "/web/"

// policy lets the page load what this server serves and nothing else: no inline script, no text that becomes markup, no other
// site, not even a frame around it. What a model writes can therefore not become a program.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; " +
	"form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

//go:embed static
var static embed.FS

// types of the files there are: what the machine's own list says does not matter.
var types = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// file is one file of the page.
type file struct {
	name    string
	kind    string
	tag     string // changes with the contents, so that browsers keep what has not changed
	content []byte
}

// Page answers requests for the page and its files. Safe for concurrent use.
type Page struct {
	files map[string]file // by path
}

// New reads the files that the program carries.
func New() (*Page, error) {
	root, err := fs.Sub(static, "static")
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	p := &Page{files: make(map[string]file)}
	err = fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		kind, known := types[path.Ext(name)]
		if !known {
			return fmt.Errorf("%s: expected a file of a known type (.html, .css, .js, .svg)", name)
		}
		sum := sha256.Sum256(content)
		f := file{name: name, kind: kind, tag: `"` + hex.EncodeToString(sum[:12]) + `"`, content: content}
		if name == "index.html" {
			p.files["/"] = f
		} else {
			p.files[Prefix+name] = f
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	return p, nil
}

// Has reports whether there is a file at a path.
func (p *Page) Has(path string) bool {
	_, ok := p.files[path]
	return ok
}

// ServeHTTP implements http.Handler.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f, ok := p.files[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("ETag", f.tag)
	h.Set("Cache-Control", "no-cache") // keep it, but ask whether it has changed: another version may be at this address
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if strings.HasPrefix(f.kind, "text/html") {
		h.Set("Content-Security-Policy", policy)
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
	}
	http.ServeContent(w, r, f.name, time.Time{}, bytes.NewReader(f.content))
}
