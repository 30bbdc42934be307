package machine

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Block sizes of the measurement: larger than any cache, small enough for a small machine.
const (
	largestBlock  = 128 << 20
	smallestBlock = 32 << 20
)

// Bandwidth measures how many bytes per second so many threads read from memory together, over about the given time. It is what
// bounds the speed of a model: each token reads all weights once.
//
// Every thread looks for a byte that is not in a block of its own, which the standard library does with vector instructions:
// faster than memory can be read.
func Bandwidth(ctx context.Context, threads int, over time.Duration, available int64) (float64, error) {
	block := min(largestBlock, available/4/int64(max(threads, 1))) &^ (4<<20 - 1) // whole pieces
	if threads < 1 || block < smallestBlock {
		return 0, errors.New("too little memory is free to measure how fast it is")
	}
	blocks := make([][]byte, threads)
	for i := range blocks {
		blocks[i] = make([]byte, block)
		for at := 0; at < len(blocks[i]); at += 4096 {
			blocks[i][at] = 1 // a page that nothing was written to is not memory yet
		}
	}
	rates := make([]float64, threads)
	var wg sync.WaitGroup
	end := time.Now().Add(over)
	for i, b := range blocks {
		wg.Go(func() { rates[i] = scan(ctx, b, end) })
	}
	wg.Wait()
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	total := 0.0
	for _, r := range rates {
		total += r
	}
	return total, nil
}

// scan reads a block over and over until the end: bytes per second, by the median of the time that a piece takes, so that it
// matters little that other programs had the core now and then.
func scan(ctx context.Context, b []byte, end time.Time) float64 {
	const piece = 2 << 20
	var times []time.Duration
	for at := 0; len(times) == 0 || time.Now().Before(end) && ctx.Err() == nil; at = (at + piece) % len(b) {
		begun := time.Now()
		if bytes.IndexByte(b[at:at+piece], 2) >= 0 {
			panic("machine: a byte that nobody wrote") // keeps the search from being left out
		}
		times = append(times, time.Since(begun))
	}
	slices.Sort(times)
	return piece / max(times[len(times)/2].Seconds(), 1e-9)
}
