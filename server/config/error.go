package config

import (
	"fmt"
	"slices"
	"strings"
)

// Problem is one mistake in a configuration.
type Problem struct {
	Line, Column int    // from 1; 0 when the configuration did not come from a file
	Path         string // "models[0].path"; "" for the whole file
	Message      string
}

// Error is all that is wrong with a configuration, in the order of the file.
type Error struct {
	File     string // "" when it did not come from a file
	Problems []Problem
	cause    error
}

// Unwrap returns the error that [Config.At] was given, or nil.
func (e *Error) Unwrap() error { return e.cause }

// Error gives one line per problem: file:line:column: path: message.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		var b strings.Builder
		if e.File != "" {
			b.WriteString(e.File + ":")
		}
		if p.Line > 0 {
			fmt.Fprintf(&b, "%d:%d:", p.Line, p.Column)
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		if p.Path != "" {
			b.WriteString(p.Path + ": ")
		}
		b.WriteString(p.Message)
		lines[i] = b.String()
	}
	return strings.Join(lines, "\n")
}

// failure sorts the problems and returns them as an error; nil without any.
func failure(file string, problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	slices.SortStableFunc(problems, func(a, b Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return &Error{File: file, Problems: problems}
}
