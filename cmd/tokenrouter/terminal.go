package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

// isTerminal reports whether a person looks at what is written to w.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// wantsColour reports whether to write colours to w (no-color.org).
func wantsColour(w io.Writer, off bool) bool {
	return !off && isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
