// Package sched is the runtime: a subserver per model, each with three loops that never wait for one another
// (client-server, decode, inter-model), the bookkeeping of KV pages, and the handoff of requests between models.
//
// Every step is an extend: a ragged list of (request, tokens to append, output wanted or not). Decode is an extend by
// one, a return from a peer an extend by what came back, prefill an extend by a chunk. There is one kind of batch and
// one call of a [Runner] per batch.
//
// The package imports router and models; only the file of the native runner imports bindings. Servers and tests use
// [Engine], [Request] and [Stream].
package sched
