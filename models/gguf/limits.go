package gguf

// Limits on what is read. Real files stay far below them; a file that asks for more is broken or hostile.
const (
	// MaxHeader bounds metadata and tensor table together, in bytes. The largest vocabularies take about 16 MiB.
	MaxHeader = 256 << 20
	// MaxKey bounds a key, in bytes (the format says 2^16-1).
	MaxKey = 1<<16 - 1
	// MaxString bounds a string value, in bytes.
	MaxString = 16 << 20
	// MaxTensorName bounds the name of a tensor, in bytes (the format says 64).
	MaxTensorName = 64
	// MaxDims is the most dimensions that a tensor has.
	MaxDims = 4
	// MaxAlignment bounds general.alignment, in bytes.
	MaxAlignment = 64 << 10
	// DefaultAlignment holds where a file has no general.alignment.
	DefaultAlignment = 32
)
