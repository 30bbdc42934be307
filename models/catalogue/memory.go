package catalogue

// How much memory a model takes, by arithmetic:
//
//   - weights: as much as the file, which the engine holds in packed form of the same size;
//   - keys and values: 2 x layers x KV heads x dimensions of a head x 2 bytes, for each token that the cache has room for;
//   - the program, its buffers and the vocabularies: Overhead.
//
// Where the size of the file is not on record it follows from the parameters and the bits that each takes. Q8_0 stores 32
// weights in 34 bytes: 8.5 bits. Q4_K_M is a mixture, and so has no exact number: 5.03 bits are those of the file of
// qwen2.5-coder-1.5b, which is on record; larger models have a smaller share of the matrices that are stored in 6 bits, and come
// out a little below.

// Overhead is what the program takes beside weights, keys and values.
const Overhead = 512 << 20

// CacheTokens is the room in the cache, in tokens, that memory is reckoned with, and that the configuration of a pair has.
const CacheTokens = 8192

// bits per parameter of a file.
var bits = map[string]float64{"Q8_0": 8.5, "Q4_K_M": 5.03}

// Size is how many bytes the file has; exact if they are on record, else estimated.
func (m *Model) Size() (bytes int64, exact bool) {
	if m.Bytes > 0 {
		return m.Bytes, true
	}
	return int64(float64(m.Parameters) * bits[m.Quantization] / 8), false
}

// ReadPerToken is about how many bytes of weights are read for each token that is written.
func (m *Model) ReadPerToken() int64 {
	size, _ := m.Size()
	if m.Active > 0 {
		return int64(float64(size) * float64(m.Active) / float64(m.Parameters))
	}
	return size
}

// KVBytes is how many bytes the keys and values of one token take, as half floats.
func (m *Model) KVBytes() int64 {
	return 2 * int64(m.Layers) * int64(m.KVHeads) * int64(m.HeadDim) * 2
}

// CacheBytes is the memory of the keys and values of CacheTokens tokens on both models.
func (p *Pair) CacheBytes() int64 {
	var perToken int64
	for _, name := range p.Models {
		perToken += Find(name).KVBytes()
	}
	return perToken * CacheTokens
}

// Memory is how many bytes serving the pair takes.
func (p *Pair) Memory() int64 {
	total := p.CacheBytes() + Overhead
	for _, name := range p.Models {
		size, _ := Find(name).Size()
		total += size
	}
	return total
}
