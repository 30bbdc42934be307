package tokenizer

import "fmt"

// splitter gives the length in bytes of the first word of a text that is not empty, at least 1. Merges never cross the
// edge of a word. Text need not be UTF-8: a byte that is none is a character on its own, neither letter nor space.
type splitter func(text string) int

// preTokenizer says how text is cut into words, and what goes with that in the models that cut so.
type preTokenizer struct {
	split      splitter
	wholeWords bool // a word that is in the vocabulary is not merged but taken whole
	addBOS     bool // where the file does not say, a text begins with the begin-of-sequence token
}

// preTokenizers are the supported ones, by `tokenizer.ggml.pre`. A further one is a file and a line here.
var preTokenizers = map[string]preTokenizer{
	"deepseek-r1-qwen": {split: splitQwen2},
	"default":          {split: splitDefault},
	"gpt-2":            {split: splitGPT2},
	"llama-bpe":        {split: splitLlama3, wholeWords: true, addBOS: true},
	"qwen2":            {split: splitQwen2},
	"smollm":           {split: splitSmolLM},
}

func findPreTokenizer(name string) (preTokenizer, error) {
	if name == "" {
		return preTokenizer{}, fmt.Errorf("the file does not name its pre-tokenizer (%s), and a wrong one gives wrong ids: "+
			"convert the model again with current tools", keyPre)
	}
	p, ok := preTokenizers[name]
	if !ok {
		return preTokenizer{}, fmt.Errorf("pre-tokenizer %q (%s) is not supported, expected one of %s", name, keyPre, list(preTokenizers))
	}
	return p, nil
}
