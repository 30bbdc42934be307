package ggufcorpus

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
)

// modelFile is a whole model, as small as the format allows, to be changed in one place.
type modelFile struct {
	keys    []string
	pairs   map[string][]byte
	tensors []tensor
	tokens  []string
	types   []int32
}

const (
	width   = 16 // of everything: embedding, the one head, feed-forward
	typeF16 = 1
)

func newModel() *modelFile {
	m := &modelFile{pairs: map[string][]byte{}}
	m.text("general.architecture", "qwen2")
	m.u32("qwen2.block_count", 1).u32("qwen2.context_length", 64).u32("qwen2.embedding_length", width)
	m.u32("qwen2.feed_forward_length", width).u32("qwen2.attention.head_count", 1).u32("qwen2.attention.head_count_kv", 1)
	m.f32("qwen2.attention.layer_norm_rms_epsilon", 1e-6).f32("qwen2.rope.freq_base", 10000)
	m.vocabulary()
	m.matrix("token_embd.weight", width, uint64(len(m.tokens)))
	m.vector("output_norm.weight")
	for _, name := range []string{"attn_norm.weight", "attn_q.bias", "attn_k.bias", "attn_v.bias", "ffn_norm.weight"} {
		m.vector("blk.0." + name)
	}
	for _, name := range []string{"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"} {
		m.matrix("blk.0."+name+".weight", width, width)
	}
	return m
}

// vocabulary is the 256 bytes as a byte-level vocabulary spells them, one merge, and one control token.
func (m *modelFile) vocabulary() {
	free := rune(0x100)
	for b := range rune(256) {
		if b != 0xAD && b != ' ' && b != 0xA0 && unicode.IsPrint(b) {
			m.tokens = append(m.tokens, string(b))
			continue
		}
		m.tokens = append(m.tokens, string(free))
		free++
	}
	m.tokens = append(m.tokens, "ab", "<|end|>")
	m.types = slices.Repeat([]int32{1}, len(m.tokens))
	m.types[len(m.types)-1] = 3
	m.text("tokenizer.ggml.model", "gpt2").text("tokenizer.ggml.pre", "qwen2")
	m.set("tokenizer.ggml.tokens", tArray, stringArray(m.tokens))
	m.set("tokenizer.ggml.token_type", tArray, array(tI32, uint64(len(m.types)), num(m.types)))
	m.set("tokenizer.ggml.merges", tArray, stringArray([]string{"a b"}))
	m.u32("tokenizer.ggml.eos_token_id", uint32(len(m.tokens)-1))
}

func (m *modelFile) set(key string, typ uint32, value []byte) *modelFile {
	if _, ok := m.pairs[key]; !ok {
		m.keys = append(m.keys, key)
	}
	m.pairs[key] = pair(key, typ, value)
	return m
}

func (m *modelFile) u32(key string, x uint32) *modelFile  { return m.set(key, tU32, u32(x)) }
func (m *modelFile) f32(key string, x float32) *modelFile { return m.set(key, tF32, num(x)) }
func (m *modelFile) text(key, s string) *modelFile        { return m.set(key, tString, str(s)) }

func (m *modelFile) remove(key string) *modelFile {
	m.keys = slices.DeleteFunc(m.keys, func(k string) bool { return k == key })
	return m
}

func (m *modelFile) matrix(name string, inputs, outputs uint64) {
	m.tensors = append(m.tensors, tensor{name, typeF16, []uint64{inputs, outputs}, zeros(int(2 * inputs * outputs))})
}

func (m *modelFile) vector(name string) {
	m.tensors = append(m.tensors, tensor{name, 0, []uint64{width}, zeros(4 * width)})
}

func (m *modelFile) removeTensor(name string) *modelFile {
	m.tensors = slices.DeleteFunc(m.tensors, func(t tensor) bool { return t.name == name })
	return m
}

func (m *modelFile) bytes() []byte {
	pairs := make([][]byte, len(m.keys))
	for i, key := range m.keys {
		pairs[i] = m.pairs[key]
	}
	return file(pairs, m.tensors)
}

// as makes it a model of an architecture without biases.
func (m *modelFile) as(architecture string) *modelFile {
	for i, key := range m.keys {
		if rest, ok := strings.CutPrefix(key, "qwen2."); ok {
			m.keys[i] = architecture + "." + rest
			m.pairs[m.keys[i]] = append(str(m.keys[i]), m.pairs[key][len(str(key)):]...)
		}
	}
	m.text("general.architecture", architecture)
	m.tensors = slices.DeleteFunc(m.tensors, func(t tensor) bool { return strings.HasSuffix(t.name, ".bias") })
	return m
}

// with adds a vector of ones.
func (m *modelFile) with(name string, n uint64) *modelFile {
	m.tensors = append(m.tensors, tensor{name, 0, []uint64{n}, num(slices.Repeat([]float32{1}, int(n)))})
	return m
}

// wholeInParts is the whole model in three files.
func wholeInParts() made {
	m := newModel()
	const count = 3
	files := map[string][]byte{}
	for no := range count {
		pairs := split(uint16(no), count, int32(len(m.tensors)))
		if no == 0 {
			for _, key := range m.keys {
				pairs = append(pairs, m.pairs[key])
			}
		}
		from, to := no*len(m.tensors)/count, (no+1)*len(m.tensors)/count
		files[partName(no+1, count)] = file(pairs, m.tensors[from:to])
	}
	return inParts("whole-model-in-parts", Whole, partName(1, count), files)
}

func models() []made {
	vocab := uint32(len(newModel().tokens))
	no := func(name string, m *modelFile, words ...string) made {
		return one("model-"+name, Model, -1, m.bytes(), words...)
	}
	key := func(name string, m *modelFile, key string, words ...string) made {
		return no(name, m, append(words, key)...)
	}
	const (
		q, eps, base    = "qwen2.", "qwen2.attention.layer_norm_rms_epsilon", "qwen2.rope.freq_base"
		heads, kv       = "qwen2.attention.head_count", "qwen2.attention.head_count_kv"
		tokens, types   = "tokenizer.ggml.tokens", "tokenizer.ggml.token_type"
		merges, scores  = "tokenizer.ggml.merges", "tokenizer.ggml.scores"
		eos, embeddings = "tokenizer.ggml.eos_token_id", "token_embd.weight"
	)
	out := []made{
		one("whole-model", Whole, -1, newModel().bytes()),
		wholeInParts(),
		one("whole-model-llama", Whole, -1, newModel().as("llama").with("rope_freqs.weight", width/2).bytes()),
		one("whole-model-qwen3", Whole, -1, newModel().as("qwen3").with("blk.0.attn_q_norm.weight", width).with("blk.0.attn_k_norm.weight", width).bytes()),
		one("whole-model-with-scores", Whole, -1, newModel().set(scores, tArray, array(tF32, uint64(vocab), zeros(4*int(vocab)))).bytes()),

		key("without-architecture", newModel().remove("general.architecture"), "general.architecture"),
		key("architecture-is-a-number", newModel().u32("general.architecture", 7), "general.architecture", "is of type uint32"),
		key("heads-zero", newModel().u32(heads, 0), heads, "is 0", "expected 1 to 4096"),
		key("heads-too-many", newModel().u32(heads, 5000), heads, "is 5000", "expected 1 to 4096"),
		no("heads-not-shared-out", newModel().u32(heads, 3), "16", "3"),
		no("kv-heads-not-shared-out", newModel().u32(heads, 4).u32(kv, 3), "4", "3"),
		key("kv-heads-zero", newModel().u32(kv, 0), kv, "is 0", "expected 1 to 4096"),
		key("epsilon-nan", newModel().f32(eps, float32(math.NaN())), eps, "expected"),
		key("epsilon-infinite", newModel().f32(eps, float32(math.Inf(1))), eps, "expected"),
		key("epsilon-negative", newModel().f32(eps, -1), eps, "is -1", "expected"),
		key("epsilon-zero", newModel().f32(eps, 0), eps, "is 0", "expected"),
		key("epsilon-large", newModel().f32(eps, 0.5), eps, "is 0.5", "expected"),
		key("epsilon-is-text", newModel().text(eps, "small"), eps, "is of type string"),
		key("rope-base-zero", newModel().f32(base, 0), base, "is 0", "expected 1 to 1e+12"),
		key("rope-base-negative", newModel().f32(base, -10000), base, "is -10000", "expected"),
		key("rope-base-nan", newModel().f32(base, float32(math.NaN())), base, "expected"),
		key("rope-base-below-1", newModel().f32(base, 0.5), base, "is 0.5", "expected 1 to 1e+12"),
		key("token-types-too-few", newModel().set(types, tArray, array(tI32, uint64(vocab-1), num(slices.Repeat([]int32{1}, int(vocab)-1)))), types, tokens, fmt.Sprint(vocab-1), fmt.Sprint(vocab)),
		key("scores-too-many", newModel().set(scores, tArray, array(tF32, uint64(vocab+1), zeros(4*int(vocab+1)))), scores, tokens, fmt.Sprint(vocab+1), fmt.Sprint(vocab)),
		key("scores-are-text", newModel().text(scores, "good"), scores, "is of type string"),
		key("merges-are-text", newModel().text(merges, "a b"), merges, "is of type string"),
		key("merges-are-numbers", newModel().set(merges, tArray, array(tU32, 1, u32(1))), merges, "is of type array of uint32"),
		key("merge-of-one", newModel().set(merges, tArray, stringArray([]string{"a b", "ab"})), merges, `merge 1 is "ab", expected two tokens with a space between`),
		key("merge-of-three", newModel().set(merges, tArray, stringArray([]string{"a b c"})), merges, `merge 0 is "a b c"`),
		key("merge-of-nothing", newModel().set(merges, tArray, stringArray([]string{" b"})), merges, `merge 0 is " b"`),
		key("special-id-above-vocabulary", newModel().u32(eos, vocab), eos, fmt.Sprintf("is %d", vocab)),
		key("special-id-negative", newModel().set(eos, tI32, num(int32(-1))), eos, "is -1"),
		key("special-id-is-text", newModel().text(eos, "</s>"), eos, "is of type string"),
		key("other-special-id-above-vocabulary", newModel().u32("tokenizer.ggml.fim_pre_token_id", 1<<31), "tokenizer.ggml.fim_pre_token_id", "is 2147483648"),
		no("embedding-missing", newModel().removeTensor(embeddings), embeddings),
		key("tokens-more-than-embedding-rows", newModel().set(tokens, tArray, stringArray(append(newModel().tokens, "more"))).
			set(types, tArray, array(tI32, uint64(vocab+1), num(append(newModel().types, 1)))), embeddings, fmt.Sprintf("%d rows", vocab), fmt.Sprint(vocab+1)),
	}
	for _, k := range []struct {
		name, key string
		most      uint32
	}{
		{"layers", "block_count", 4096}, {"width", "embedding_length", 1 << 20}, {"context", "context_length", 1 << 28},
	} {
		limit := fmt.Sprintf("expected 1 to %d", k.most)
		out = append(out,
			key(k.name+"-missing", newModel().remove(q+k.key), q+k.key),
			key(k.name+"-zero", newModel().u32(q+k.key, 0), q+k.key, "is 0", limit),
			key(k.name+"-too-many", newModel().u32(q+k.key, k.most+1), q+k.key, fmt.Sprintf("is %d", k.most+1), limit),
			key(k.name+"-negative", newModel().set(q+k.key, tI32, num(int32(-3))), q+k.key, "is -3"),
			key(k.name+"-is-a-float", newModel().f32(q+k.key, 2), q+k.key, "is of type float32"),
		)
	}
	return out
}
