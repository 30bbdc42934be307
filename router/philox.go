package router

import "math/bits"

// philox is Philox4x32-10, a counter-based generator (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1,
// 2, 3", 2011): four random words that are a pure function of a counter and a key.
func philox(c [4]uint32, key [2]uint32) [4]uint32 {
	for range 10 {
		high0, low0 := bits.Mul32(0xD2511F53, c[0])
		high1, low1 := bits.Mul32(0xCD9E8D57, c[2])
		c = [4]uint32{high1 ^ c[1] ^ key[0], low1, high0 ^ c[3] ^ key[1], low0}
		key[0] += 0x9E3779B9
		key[1] += 0xBB67AE85
	}
	return c
}

// routingStream is the stream of draws about routing by model 0, model 1 has the one below, and so on; tokens are drawn from the streams of the models' indices.
const routingStream = 1<<32 - 1

// Uniform is a number in [0, 1) for a routing decision about the next position of v: a pure function of the model, the request's seed,
// the choice and the position, so that it does not depend on who shares the batch, or on when the question is asked.
func Uniform(v View) float64 {
	return uniform(v.Seed, v.Choice, len(v.Tokens), routingStream-uint32(v.Model))
}

// Shared is a number in [0, 1) for a decision about a position that is the same at all models of the route: a pure function of the
// request's seed, the choice and the position.
func Shared(v View, position int) float64 {
	return uniform(v.Seed, v.Choice, position, sharedStream)
}

// sharedStream is the stream of draws that all models of a route share.
const sharedStream = 1 << 31

// uniform is u = f(seed, choice, position, stream) in [0, 1).
func uniform(seed uint64, choice uint32, position int, stream uint32) float64 {
	words := philox([4]uint32{uint32(position), choice, stream, 0}, [2]uint32{uint32(seed), uint32(seed >> 32)})
	return float64(uint64(words[0])<<21^uint64(words[1])>>11) / (1 << 53)
}
