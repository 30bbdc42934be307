package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// lineReader reads what a person types.
type lineReader interface {
	// ReadLine gives a line without its end; io.EOF when there are no more.
	ReadLine(ctx context.Context) (string, error)
}

// newLines reads lines: with editing and a history from a terminal, else as they are. restore puts the terminal back.
func newLines(in io.Reader, out io.Writer) (lines lineReader, restore func()) {
	file, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) || !isTerminal(out) {
		return &plainLines{bufio.NewReader(in)}, func() {}
	}
	e := &editor{fd: int(file.Fd()), out: out}
	e.terminal = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{&keyReader{in: file}, out}, "> ")
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
	out      io.Writer
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
		case errors.Is(err, io.EOF):
			_, _ = io.WriteString(e.out, "\r\n")
			return "", io.EOF
		case err != nil:
			return "", err
		}
		return strings.Join(append(pasted, line), "\n"), nil
	}
}

// keyReader turns ctrl-C, which would end the input, into the keys that clear the line: to its end (ctrl-E), and delete all before
// that (ctrl-U).
type keyReader struct {
	in   io.Reader
	left []byte // read and not given yet
}

const ctrlC = 3

func (k *keyReader) Read(p []byte) (int, error) {
	if len(k.left) == 0 {
		buffer := make([]byte, 256)
		n, err := k.in.Read(buffer)
		if n == 0 {
			return 0, err
		}
		k.left = bytes.ReplaceAll(buffer[:n], []byte{ctrlC}, []byte{5, 21})
	}
	n := copy(p, k.left)
	k.left = k.left[n:]
	return n, nil
}
