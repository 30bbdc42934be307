package web

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func get(t *testing.T, method, path string, header http.Header) *httptest.ResponseRecorder {
	t.Helper()
	page, err := New()
	require.NoError(t, err)
	r := httptest.NewRequest(method, path, http.NoBody)
	for name, values := range header {
		r.Header[name] = values
	}
	w := httptest.NewRecorder()
	page.ServeHTTP(w, r)
	return w
}

func TestPage(t *testing.T) {
	w := get(t, http.MethodGet, "/", nil)
	require.Equal(t, http.StatusOK, w.Code)
	require.Equal(t, "text/html; charset=utf-8", w.Header().Get("Content-Type"))
	require.Equal(t, policy, w.Header().Get("Content-Security-Policy"))
	require.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
	require.Contains(t, w.Body.String(), "<title>TokenRouter</title>")

	again := get(t, http.MethodGet, "/", http.Header{"If-None-Match": {w.Header().Get("ETag")}})
	require.Equal(t, http.StatusNotModified, again.Code)
	require.Zero(t, again.Body.Len())

	head := get(t, http.MethodHead, "/", nil)
	require.Equal(t, http.StatusOK, head.Code)
	require.Zero(t, head.Body.Len())
}

func TestTypesOfFiles(t *testing.T) {
	for name, kind := range map[string]string{
		"main.js": "text/javascript; charset=utf-8", "base.css": "text/css; charset=utf-8", "icon.svg": "image/svg+xml",
	} {
		w := get(t, http.MethodGet, Prefix+name, nil)
		require.Equal(t, http.StatusOK, w.Code, name)
		require.Equal(t, kind, w.Header().Get("Content-Type"), name)
	}
}

func TestThereIsNothingElse(t *testing.T) {
	for _, at := range []string{Prefix, Prefix + "index.html", Prefix + "../web.go", Prefix + "nothing.js", "/index.html"} {
		w := httptest.NewRecorder()
		page, err := New()
		require.NoError(t, err)
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.URL.Path = at
		page.ServeHTTP(w, r)
		require.Equal(t, http.StatusNotFound, w.Code, at)
		require.False(t, page.Has(at), at)
	}
}

// sources gives the files of the page by name.
func sources(t *testing.T) map[string]string {
	t.Helper()
	out := make(map[string]string)
	root, err := fs.Sub(static, "static")
	require.NoError(t, err)
	entries, err := fs.ReadDir(root, ".")
	require.NoError(t, err)
	for _, entry := range entries {
		content, err := fs.ReadFile(root, entry.Name())
		require.NoError(t, err)
		out[entry.Name()] = string(content)
	}
	require.Greater(t, len(out), 10)
	return out
}

// What a page names must be there; what it imports is fetched at once and not one after the other.
func TestReferences(t *testing.T) {
	files := sources(t)
	index := files["index.html"]
	for _, m := range regexp.MustCompile(`(?:href|src)="/web/([^"]+)"`).FindAllStringSubmatch(index, -1) {
		require.Contains(t, files, m[1])
	}
	imports := regexp.MustCompile(`from "\./([^"]+)"`)
	for name, text := range files {
		for _, m := range imports.FindAllStringSubmatch(text, -1) {
			require.Contains(t, files, m[1], "imported by %s", name)
		}
		if path.Ext(name) == ".js" {
			require.Contains(t, index, `"/web/`+name+`"`, "index.html neither runs nor preloads it")
		}
		if path.Ext(name) == ".css" {
			require.Contains(t, index, `"/web/`+name+`"`)
		}
	}
}

// The policy would refuse these; they must not be there to begin with.
func TestNothingInlineAndNothingFromElsewhere(t *testing.T) {
	files := sources(t)
	require.NotRegexp(t, `<script>|<style|\sstyle=|\son[a-z]+=|javascript:`, files["index.html"])
	for name, text := range files {
		// The name space of SVG is a name, not an address.
		require.NotContains(t, strings.ReplaceAll(text, "http://www.w3.org/2000/svg", ""), "://", name)
		if path.Ext(name) == ".js" {
			require.NotRegexp(t, `innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setAttribute\("style"`, text, name)
		}
	}
}
