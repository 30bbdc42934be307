// Package kv keeps the books of a model's KV cache: which page belongs to whom. The pages themselves lie in the memory
// of the runner, which reads and writes those that a step names and nothing else.
//
// A cache has a fixed number of pages of a fixed number of tokens. A sequence owns a page table: its i-th page holds
// positions [i*n, (i+1)*n). Its length is how many positions hold keys and values; its table may reach further, since
// pages are reserved before the step that fills them:
//
//	page table   | p0      | p1      | p2      |
//	positions    |#########|####.....|.........|
//	                           ^ Length         ^ Reserved
//
// Invariants, checked by [Pool.Check]:
//   - every page is free, or kept for its contents without an owner, or in the tables of as many sequences as it has
//     references;
//   - no page is twice in one table;
//   - a table never has more pages than its Reserved tokens take, and Length <= Reserved;
//   - only full pages, below the Length of every owner, are shared: a step writes no page that another one reads.
//
// A full page can be published: then its contents, which are those of all tokens up to its end, can be found again by another
// sequence that begins with the same tokens. When its last owner is gone it is kept until its memory is needed.
//
// Nothing here is safe for concurrent use: the owner of a pool guards it.
package kv
