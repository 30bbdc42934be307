package main

import (
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/tokenrouter/tokenrouter/server/app"
)

// screen is where logs and a bar are shown together: a line of the log takes the bar's place, which is drawn anew below.
type screen struct {
	out io.Writer

	mu  sync.Mutex
	bar bool // the last line is a bar
}

func newScreen(out io.Writer) *screen { return &screen{out: out} }

// Write implements io.Writer, for logs.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bar {
		if _, err := io.WriteString(s.out, "\r\x1b[2K"); err != nil {
			return 0, err
		}
		s.bar = false
	}
	return s.out.Write(p)
}

// draw draws or clears the bar.
func (s *screen) draw(bar bool, how func() error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bar = bar
	_ = how() // a terminal that cannot show it goes without
}

// watch shows a bar on s while models are loaded, if a person looks on. It ends when all is loaded or stop is called,
// and leaves nothing behind.
func watch(s *screen, l *app.Loader) (stop func()) {
	if !isTerminal(s.out) {
		return func() {}
	}
	const steps = 1000
	bar := progressbar.NewOptions(steps, progressbar.OptionSetWriter(s.out), progressbar.OptionSetDescription("loading models"),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30), progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false))
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			fraction := l.Fraction()
			s.draw(true, func() error { return bar.Set(int(fraction * steps)) })
			if fraction >= 1 {
				break
			}
			select {
			case <-tick.C:
				continue
			case <-quit:
			}
			break
		}
		s.draw(false, bar.Clear)
	}()
	var once sync.Once
	return func() {
		once.Do(func() { close(quit) })
		<-ended
	}
}
