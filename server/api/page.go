package api

import (
	"github.com/gin-gonic/gin"

	"github.com/tokenrouter/tokenrouter/server/web"
)

// page answers with the web page and its files.
func (s *Server) page() gin.HandlerFunc {
	page, err := web.New()
	if err != nil {
		panic("api: " + err.Error()) // of files that are in the program: cannot be
	}
	return func(c *gin.Context) {
		if !page.Has(c.Request.URL.Path) {
			s.nowhere(c)
			return
		}
		s.patience(c)
		page.ServeHTTP(c.Writer, c.Request)
	}
}
