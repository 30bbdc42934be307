// Package simrunner is a model without weights: a sched.Runner whose answers are a pure function of the sequence, the
// sampling parameters and the model, and which is as strict about its KV cache as a real one.
//
// Its "keys and values" are the token ids themselves. A step writes them into the pages that it names, and each row reads
// its whole sequence back through the page table, as attention would. So a page that was given away too early, a wrong
// position or a token left out shows as other tokens in the answer. What can be told apart from a fault of bookkeeping at
// once is an error: a page outside the cache, a page table that is too short, two segments that write one page, a
// position of the sequence that was never written, a history that does not fit.
//
// Latencies come from a function of the batch and are slept: in a testing/synctest bubble they take no time.
package simrunner
