package sched

import (
	"fmt"

	"github.com/tokenrouter/tokenrouter/bindings"
)

// How a native runner's KV cache stores keys and values.
const (
	NativeKVF16 = "f16"
	NativeKVQ80 = "q8_0" // about half of the memory, a little less exact
)

func kvTypeOf(name string) (bindings.KVType, error) {
	switch name {
	case "", NativeKVF16:
		return bindings.KVF16, nil
	case NativeKVQ80:
		return bindings.KVQ80, nil
	}
	return 0, fmt.Errorf("KV type %q is unknown, expected %s or %s", name, NativeKVF16, NativeKVQ80)
}

// NativeKVBytes is what a token of a model takes in a KV cache of the type.
func NativeKVBytes(info NativeInfo, kvType string) (uint64, error) {
	kv, err := kvTypeOf(kvType)
	if err != nil {
		return 0, err
	}
	return kv.Bytes(info.KVBytesPerToken), nil
}

// KVBytes is what a token takes in the runner's KV cache.
func (r *NativeRunner) KVBytes() uint64 {
	return r.arena.Options().KV.Bytes(r.arena.Info().KVBytesPerToken)
}
