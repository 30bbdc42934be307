// Package api is the HTTP server: OpenAI's chat completions, completions and models over an engine, health probes, and
// the `routing` objects that are our own.
//
//	s := api.New(api.Options{Log: log, MaxBody: 16 << 20, RequestTimeout: time.Hour})
//	go http.Serve(listener, s) // answers probes at once, requests once it is ready
//	s.Ready(targets, engine)
//
// A request's context is the answer's: when a client has gone or the time is up, the engine frees it everywhere. No text
// of prompts or answers is logged.
package api
