// Package app puts the parts together: from a configuration to an engine on the native library (Load), and from there to
// an HTTP server (Serve).
//
//	err := app.Serve(ctx, cfg, app.Options{Log: log}) // until ctx is done
package app
