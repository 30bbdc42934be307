package main

import (
	"fmt"
	"io"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/tokenrouter/tokenrouter/models/fetch"
	"github.com/tokenrouter/tokenrouter/sched"
)

// byteBar shows how far a transfer is: a bar if a person looks on, else a line every tenth of it. It never goes backwards.
type byteBar struct {
	out   io.Writer
	label string
	begun time.Time
	from  int64 // bytes that were there at the start
	most  int64
	tenth int64
	bar   *progressbar.ProgressBar
}

func newByteBar(out io.Writer, label string) *byteBar {
	return &byteBar{out: out, label: label, begun: time.Now(), from: -1, tenth: -1}
}

// progress takes a report.
func (b *byteBar) progress(p fetch.Progress) {
	if !p.Checking && b.from < 0 {
		b.from = p.Done
	}
	if !isTerminal(b.out) {
		b.line(p)
		return
	}
	if b.bar == nil {
		total := p.Total
		if total == 0 {
			total = -1 // a spinner
		}
		b.bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(b.out), progressbar.OptionSetDescription(b.label),
			progressbar.OptionShowBytes(true), progressbar.OptionShowTotalBytes(true), progressbar.OptionSetWidth(30), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	}
	if p.Total > 0 && b.bar.GetMax64() != p.Total {
		b.bar.ChangeMax64(p.Total)
	}
	if p.Done > b.most {
		b.most = p.Done
		_ = b.bar.Set64(p.Done) // a terminal that cannot show it goes without
	}
}

// line writes a line, where nobody looks on, when another tenth is done.
func (b *byteBar) line(p fetch.Progress) {
	if p.Checking || p.Total <= 0 || p.Done*10/p.Total <= b.tenth {
		return
	}
	b.tenth = p.Done * 10 / p.Total
	say(b.out, fmt.Sprintf("%s: %d%% of %s", b.label, p.Done*100/p.Total, fetch.Size(p.Total)))
}

// clear takes the bar away.
func (b *byteBar) clear() {
	if b.bar != nil {
		_ = b.bar.Clear()
	}
}

// rate says how fast it went; "" if that means nothing.
func (b *byteBar) rate(total int64) string {
	seconds := time.Since(b.begun).Seconds()
	if b.from < 0 || total <= b.from || seconds < 1 {
		return ""
	}
	return fmt.Sprintf(", %s/s", fetch.Size(int64(float64(total-b.from)/seconds)))
}

// countBar shows how many of so many things are done, if a person looks on.
func countBar(out io.Writer, label string, total int) (set func(done int), clear func()) {
	if !isTerminal(out) {
		return func(int) {}, func() {}
	}
	bar := progressbar.NewOptions(total, progressbar.OptionSetWriter(out), progressbar.OptionSetDescription(label),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30))
	return func(done int) { _ = bar.Set(done) }, func() { _ = bar.Clear() } // a terminal that cannot show it goes without
}

// loadModel loads a model, with a bar if a person looks on.
func loadModel(aside io.Writer, device *sched.NativeDevice, path string) (*sched.NativeModel, error) {
	set, clear := countBar(aside, "loading "+filepath.Base(path), 1000)
	var progress atomic.Int32
	ended, drawn := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(drawn)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				set(int(progress.Load()))
			case <-ended:
				return
			}
		}
	}()
	model, err := device.LoadModel(path, &progress)
	close(ended)
	<-drawn
	clear()
	return model, err
}
