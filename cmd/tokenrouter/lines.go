package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// lineReader reads what a person types.
type lineReader interface {
	// ReadLine gives a line without its end; io.EOF when there are no more, errCleared when the person gave the line up.
	ReadLine(ctx context.Context) (string, error)
}

// errCleared says that ctrl-C was pressed at a prompt.
var errCleared = errors.New("the line was cleared")

// newLines reads lines: with editing and a history from a terminal, else as they are. restore puts the terminal back.
func newLines(in io.Reader, out io.Writer) (lines lineReader, restore func()) {
	file, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) || !isTerminal(out) {
		return &plainLines{bufio.NewReader(in)}, func() {}
	}
	e := &editor{fd: int(file.Fd()), keys: &lastByte{in: file}}
	e.terminal = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{e.keys, out}, "> ")
	return e, func() { e.terminal.SetBracketedPasteMode(false) }
}

// plainLines are lines of a file or a pipe.
type plainLines struct{ in *bufio.Reader }

// ReadLine leaves a read behind when ctx is done: then the command ends.
func (p *plainLines) ReadLine(ctx context.Context) (string, error) {
	type result struct {
		line string
		err  error
	}
	read := make(chan result, 1)
	go func() {
		line, err := p.in.ReadString('\n')
		read <- result{line, err}
	}()
	select {
	case r := <-read:
		if r.err != nil && r.line == "" {
			return "", r.err
		}
		return strings.TrimRight(r.line, "\r\n"), nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// editor is a line of a terminal that can be edited. The terminal is in raw mode only while a line is read, so that ctrl-C is a
// signal while an answer is written.
type editor struct {
	fd       int
	keys     *lastByte
	terminal *term.Terminal
}

func (e *editor) ReadLine(context.Context) (string, error) {
	old, err := term.MakeRaw(e.fd)
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(e.fd, old) }() // there is nothing else to do about it
	if width, height, err := term.GetSize(e.fd); err == nil && width > 0 {
		_ = e.terminal.SetSize(width, height)
	}
	e.terminal.SetBracketedPasteMode(true)
	defer e.terminal.SetBracketedPasteMode(false)
	var pasted []string
	for {
		line, err := e.terminal.ReadLine()
		switch {
		case errors.Is(err, term.ErrPasteIndicator): // lines that were pasted belong to one prompt
			pasted = append(pasted, line)
			continue
		case errors.Is(err, io.EOF) && e.keys.last == ctrlC:
			_, _ = io.WriteString(e.terminal, "\r\n")
			return "", errCleared
		case errors.Is(err, io.EOF):
			_, _ = io.WriteString(e.terminal, "\r\n")
			return "", io.EOF
		case err != nil:
			return "", err
		}
		return strings.Join(append(pasted, line), "\n"), nil
	}
}

const ctrlC = 3

// lastByte remembers the last byte that was read: the terminal says the same of ctrl-C and ctrl-D.
type lastByte struct {
	in   io.Reader
	last byte
}

func (l *lastByte) Read(p []byte) (int, error) {
	n, err := l.in.Read(p)
	if n > 0 {
		l.last = p[n-1]
	}
	return n, err
}
