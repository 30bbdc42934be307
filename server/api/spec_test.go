package api

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/server/web"
)

// The document that is served names every path that there is, and no other.
func TestSpecHasEveryPath(t *testing.T) {
	site := newSite(t, brief(), func(o *Options) { o.Version = "1.2.3" })
	r, body := site.get(t, "/openapi.json")
	require.Equal(t, 200, r.StatusCode)
	var doc struct {
		OpenAPI string
		Info    struct{ Version string }
		Paths   map[string]map[string]any
	}
	unmarshal(t, body, &doc)
	require.Equal(t, "3.1.0", doc.OpenAPI)
	require.Equal(t, "1.2.3", doc.Info.Version)
	engine, ok := site.api.handler.(*gin.Engine)
	require.True(t, ok)
	n := 0
	for _, route := range engine.Routes() {
		if route.Method == http.MethodHead || route.Path == "/" || strings.HasPrefix(route.Path, web.Prefix) { // the web page
			continue
		}
		path := strings.Replace(route.Path, "*id", "{model}", 1)
		paths := []string{path}
		if route.Method == http.MethodPost && path != route.Path {
			paths = []string{path + loads, path + unloads}
		}
		for _, path := range paths {
			require.Contains(t, doc.Paths, path)
			require.Contains(t, doc.Paths[path], strings.ToLower(route.Method), path)
			n++
		}
	}
	require.Len(t, doc.Paths, n)
}
