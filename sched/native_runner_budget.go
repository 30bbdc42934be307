package sched

import (
	"fmt"
	"math"

	"github.com/tokenrouter/tokenrouter/bindings"
)

// NativePageTokens is the number of tokens of a page of the native library's KV cache.
const NativePageTokens = bindings.PageTokens

// NativePages divides a memory budget for KV caches among models that share a device: the largest number of pages that
// all of them can have, the same for each, so that a request that fits on one of them fits on all. A page is
// bindings.PageTokens tokens; a model that takes more bytes per token gets more bytes.
//
// budget is in bytes, and covers keys and values only. kvBytesPerToken has one entry per model, of [NativeInfo]. The error
// says how much one page on each takes, where not even that fits.
func NativePages(budget uint64, kvBytesPerToken ...uint64) (int, error) {
	if len(kvBytesPerToken) == 0 {
		return 0, fmt.Errorf("KV budget of %d bytes: no model to divide it among", budget)
	}
	var perToken uint64
	for i, n := range kvBytesPerToken {
		if n == 0 || n > math.MaxUint64/bindings.PageTokens-perToken {
			return 0, fmt.Errorf("KV budget: model %d of %d takes %d bytes per token, which cannot be", i+1, len(kvBytesPerToken), n)
		}
		perToken += n
	}
	page := perToken * bindings.PageTokens
	pages := budget / page
	if pages == 0 {
		return 0, fmt.Errorf("KV budget of %d bytes is too small: a page of %d tokens on each of %d models takes %d bytes; raise the budget",
			budget, bindings.PageTokens, len(kvBytesPerToken), page)
	}
	return int(min(pages, math.MaxInt32)), nil // the library counts pages in 32 bits
}
