// Package modelstest makes small GGUF files for tests: a vocabulary of a few hundred tokens with the shape of Qwen2.5's
// (byte-level BPE, turn markers, tool markers, padding, a chat template), learned from a few sentences here. What it
// makes is the same on every run.
package modelstest
