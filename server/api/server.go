package api

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/rs/zerolog"

	"github.com/tokenrouter/tokenrouter/server/openai"
	"github.com/tokenrouter/tokenrouter/server/web"
)

// statusClientClosed stands in logs for the client going away before the end of its answer.
const statusClientClosed = 499

// Options configure a server. Zero in a field means the default stated there.
type Options struct {
	Log     zerolog.Logger
	MaxBody int64 // largest request body in bytes; default 16 MiB
	// MaxPrompts is the most prompts of one completion: no more than the engine can hold at a time, or waiting would not
	// help them. Default and upper bound: openai.MaxPrompts.
	MaxPrompts     int
	RequestTimeout time.Duration // longest time for one answer; default 1 hour
	// BodyTimeout bounds how long a client may take to send its request, WriteTimeout how long it may leave a piece of
	// the answer unread; default 60 s and 30 s. A client that stalls longer is treated as gone.
	BodyTimeout, WriteTimeout time.Duration
	// PingInterval is how often a comment is sent in a stream that has nothing else to send, so that no proxy between
	// takes it for dead; default 15 s.
	PingInterval time.Duration
	Loading      func() []Loading // what is being loaded while the server is not ready; may be nil
	Resident     func() int64     // memory of the process in bytes, for /v1/routes; may be nil
	Version      string           // of the program
	Metrics      http.Handler     // answers /metrics; nil: there is no such page
}

// Loading is a model on its way into memory.
type Loading struct {
	Model    string  `json:"model"`
	Progress float64 `json:"progress"` // 0 to 1
}

// Server is the HTTP handler. Safe for concurrent use.
type Server struct {
	options Options
	handler http.Handler
	state   atomic.Pointer[state]
	drained context.Context // done from Drain on
	drain   context.CancelFunc
}

// state is what changes over the life of a server; never changed in place.
type state struct {
	targets  []Target
	engine   Engine // nil: loading
	draining bool
}

var quiet sync.Once

// New makes a server that is not ready yet.
func New(o Options) *Server {
	fallback(&o.MaxBody, 16<<20)
	fallback(&o.MaxPrompts, openai.MaxPrompts)
	o.MaxPrompts = min(o.MaxPrompts, openai.MaxPrompts)
	fallback(&o.RequestTimeout, time.Hour)
	fallback(&o.BodyTimeout, time.Minute)
	fallback(&o.WriteTimeout, 30*time.Second)
	fallback(&o.PingInterval, 15*time.Second)
	if o.Loading == nil {
		o.Loading = func() []Loading { return nil }
	}
	s := &Server{options: o}
	s.drained, s.drain = context.WithCancel(context.Background())
	s.state.Store(&state{})

	quiet.Do(func() { gin.SetMode(gin.ReleaseMode) })
	g := gin.New()
	g.HandleMethodNotAllowed = true
	g.RedirectTrailingSlash = false
	if err := g.SetTrustedProxies(nil); err != nil {
		panic("api: " + err.Error()) // of a nil list: cannot be
	}
	g.Use(s.logged, s.recovered)
	g.NoRoute(s.nowhere)
	g.NoMethod(s.notAllowed)
	page := s.page()
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		g.Handle(method, "/", page)
		g.Handle(method, web.Prefix+"*file", page)
		g.Handle(method, "/healthz", s.healthz)
		g.Handle(method, "/readyz", s.readyz)
		g.Handle(method, "/health", s.health)
	}
	if o.Metrics != nil {
		g.GET("/metrics", gin.WrapH(o.Metrics))
	}
	g.GET("/v1/models", s.listModels)
	g.GET("/v1/models/*id", s.showModel) // names may contain slashes
	g.POST("/v1/models/*id", s.actOnModel)
	g.GET("/v1/routes", s.listRoutes)
	g.GET("/openapi.json", func(c *gin.Context) { s.write(c, http.StatusOK, openai.Spec(o.Version)) })
	g.POST("/tokenize", s.tokenize)
	g.POST("/detokenize", s.detokenize)
	g.POST("/apply-template", s.applyTemplate)
	g.POST("/v1/chat/completions", s.chatCompletions)
	g.POST("/v1/completions", s.completions)
	s.handler = g
	return s
}

func fallback[T comparable](v *T, to T) {
	var zero T
	if *v == zero {
		*v = to
	}
}

// Ready makes the server answer requests from now on. The first target is listed first.
func (s *Server) Ready(targets []Target, e Engine) {
	s.state.Store(&state{targets: targets, engine: e})
}

// Drain makes /readyz say that the server is going away. Answers go on, further ones are refused, and so are those to requests
// whose bodies are still on their way.
func (s *Server) Drain() {
	for {
		old := s.state.Load()
		next := *old
		next.draining = true
		if s.state.CompareAndSwap(old, &next) {
			s.drain()
			return
		}
	}
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// nowhere says that there is nothing at a path.
func (s *Server) nowhere(c *gin.Context) {
	s.fail(c, &openai.Error{
		Status: http.StatusNotFound, Type: openai.TypeInvalidRequest, Code: openai.CodeNotFound,
		Message: "there is nothing at " + clip(c.Request.URL.Path) + "; see /v1/models, /v1/chat/completions, /v1/completions",
	})
}

// notAllowed says that a path has other methods, those of the header Allow.
func (s *Server) notAllowed(c *gin.Context) {
	s.fail(c, &openai.Error{
		Status: http.StatusMethodNotAllowed, Type: openai.TypeInvalidRequest, Code: openai.CodeMethodNotAllowed,
		Message: c.Request.Method + " is not allowed at " + clip(c.Request.URL.Path) + "; allowed: " + c.Writer.Header().Get("Allow"),
	})
}
