package tokenizer

// Writable gives the bytes that an id adds to a text that is shown; "" for control tokens, which add none, and for ids that stand
// for nothing.
func (t *Tokenizer) Writable(id int32) string {
	if !t.valid(id) || t.vocab.control(int(id)) {
		return ""
	}
	return t.pieces[id]
}
