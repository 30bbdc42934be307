package tokenizer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tokenrouter/tokenrouter/models/gguf"
)

// Metadata keys (GGUF specification, tokenizer section).
const (
	keyModel  = "tokenizer.ggml.model"
	keyPre    = "tokenizer.ggml.pre"
	keyTokens = "tokenizer.ggml.tokens"
	keyTypes  = "tokenizer.ggml.token_type"
	keyMerges = "tokenizer.ggml.merges"
	keyScores = "tokenizer.ggml.scores"
	keyAddBOS = "tokenizer.ggml.add_bos_token"
	keyAddEOS = "tokenizer.ggml.add_eos_token"
	keyPrefix = "tokenizer.ggml.add_space_prefix"

	idPrefix, idSuffix = "tokenizer.ggml.", "_token_id"
)

// maxVocab bounds the ids of a vocabulary, which are int32 and have one logit each.
const maxVocab = 1 << 22

// maxSpecial bounds the bytes of all special tokens, which are looked for at every place of a text; Gemma's have 80,000.
const maxSpecial = 1 << 20

// vocab is what every type of tokenizer has: texts and types of the ids, and special ids.
type vocab struct {
	model   string
	pre     string // "" where the type has no pre-tokenizer
	texts   []string
	types   []Type
	ids     map[string]int32 // by text, without unused tokens
	special Special
}

func loadVocab(f *gguf.File) (*vocab, error) {
	v := &vocab{}
	var err error
	if v.model, err = f.Text(keyModel); err != nil {
		return nil, fmt.Errorf("the file has no tokenizer that can be used: %w", err)
	}
	if v.pre, err = gguf.Default("")(f.Text(keyPre)); err != nil {
		return nil, err
	}
	if v.texts, err = f.Texts(keyTokens); err != nil {
		return nil, err
	}
	if n := len(v.texts); n == 0 || n > maxVocab {
		return nil, fmt.Errorf("%s has %d tokens, expected 1 to %d", keyTokens, n, maxVocab)
	}
	if err := v.loadTypes(f); err != nil {
		return nil, err
	}
	if err := v.index(); err != nil {
		return nil, err
	}
	if err := v.loadSpecial(f); err != nil {
		return nil, err
	}
	special := 0
	for id, text := range v.texts {
		if v.atomic(id) {
			special += len(text)
		}
	}
	if special > maxSpecial {
		return nil, fmt.Errorf("the special tokens have %d bytes together, expected at most %d", special, maxSpecial)
	}
	return v, nil
}

func (v *vocab) loadTypes(f *gguf.File) error {
	v.types = make([]Type, len(v.texts))
	for i := range v.types {
		v.types[i] = Normal
	}
	if !f.Has(keyTypes) {
		return nil
	}
	types, err := f.Ints(keyTypes)
	if err != nil {
		return err
	}
	if len(types) != len(v.texts) {
		return fmt.Errorf("%s has %d entries, but %s has %d: they must be equally many", keyTypes, len(types), keyTokens, len(v.texts))
	}
	for id, t := range types {
		if t < int64(Normal) || t > int64(Byte) {
			return fmt.Errorf("token %d (%q) has the unknown type %d, expected %d to %d", id, v.texts[id], t, Normal, Byte)
		}
		v.types[id] = Type(t)
	}
	return nil
}

func (v *vocab) index() error {
	v.ids = make(map[string]int32, len(v.texts))
	for id, text := range v.texts {
		if v.types[id] == Unused || text == "" {
			continue
		}
		if old, ok := v.ids[text]; ok {
			return fmt.Errorf("tokens %d and %d have the same text %q", old, id, text)
		}
		v.ids[text] = int32(id)
	}
	return nil
}

func (v *vocab) loadSpecial(f *gguf.File) error {
	for _, key := range f.Keys() {
		if strings.HasPrefix(key, idPrefix) && strings.HasSuffix(key, idSuffix) {
			if _, err := v.specialID(f, key); err != nil {
				return err
			}
		}
	}
	s := &v.special
	for name, id := range map[string]*int32{
		"bos": &s.BOS, "eos": &s.EOS, "eot": &s.EOT, "eom": &s.EOM, "unknown": &s.Unknown, "padding": &s.Padding,
	} {
		var err error
		if *id, err = v.specialID(f, idPrefix+name+idSuffix); err != nil {
			return err
		}
	}
	var err error
	if s.AddBOS, err = gguf.Default(false)(f.Truth(keyAddBOS)); err != nil {
		return err
	}
	if s.AddEOS, err = gguf.Default(false)(f.Truth(keyAddEOS)); err != nil {
		return err
	}
	if s.AddBOS && s.BOS == None {
		return fmt.Errorf(keyAddBOS + " is true, but the file has no tokenizer.ggml.bos_token_id")
	}
	if s.AddEOS && s.EOS == None {
		return fmt.Errorf(keyAddEOS + " is true, but the file has no tokenizer.ggml.eos_token_id")
	}
	return nil
}

// specialID reads the id at key, None if the file lacks the key.
func (v *vocab) specialID(f *gguf.File, key string) (int32, error) {
	if !f.Has(key) {
		return None, nil
	}
	id, err := f.Uint(key)
	if err != nil {
		return None, err
	}
	if id >= uint64(len(v.texts)) {
		return None, fmt.Errorf("%s is %d, expected an id below the vocabulary size %d", key, id, len(v.texts))
	}
	return int32(id), nil
}

// atomic says whether a token is matched whole in text, by its literal spelling, before the text is split.
func (v *vocab) atomic(id int) bool { return v.control(id) || v.types[id] == UserDefined }

// control says whether a token is matched only where special tokens are asked for. Some converters mark turn markers and
// the tokens that the metadata names as user-defined; were they read in plain text, users could forge a turn.
func (v *vocab) control(id int) bool {
	switch v.types[id] {
	case Control, Unknown:
		return true
	case UserDefined:
		s := &v.special
		return turnMarker(v.texts[id]) || slices.Contains([]int32{s.BOS, s.EOS, s.EOT, s.EOM}, int32(id))
	}
	return false
}
