// Package pair carries the default pair of models, so that a program without any file and any network can answer.
// MODEL.md says what they are; tools/pair makes them.
package pair

import "embed"

// Files holds small.gguf and large.gguf, and the routers for them in heads.
//
//go:embed small.gguf large.gguf heads/*.gguf
var Files embed.FS
