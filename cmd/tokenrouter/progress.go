package main

import (
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/tokenrouter/tokenrouter/server/app"
)

// watch shows a bar on w while models are loaded, if a person looks on. It ends when all is loaded or stop is called,
// and leaves nothing behind.
func watch(w io.Writer, l *app.Loader) (stop func()) {
	if !isTerminal(w) {
		return func() {}
	}
	const steps = 1000
	bar := progressbar.NewOptions(steps, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription("loading models"),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30), progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false))
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			fraction := l.Fraction()
			_ = bar.Set(int(fraction * steps)) // a terminal that cannot show it goes without
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
		_ = bar.Clear()
	}()
	var once sync.Once
	return func() {
		once.Do(func() { close(quit) })
		<-ended
	}
}
