// Package store keeps the models that were downloaded: a directory of GGUF files, and beside each a hidden file that says where
// it came from.
//
//	s, err := store.Default()
//	sources, err := store.Resolve("hf:Qwen/Qwen3-0.6B-GGUF/Qwen3-0.6B-Q8_0.gguf", os.Getenv)
//	err = s.Pull(ctx, sources, store.Options{})
package store
