package tokenizer

// Detokenizer turns a stream of ids into text, whole characters only: a character may be spread over several tokens.
// All that Append and Flush gave, joined, is what Decode gives for all ids at once. For one goroutine at a time.
type Detokenizer struct {
	decoder
	held []byte // the beginning of a character, at most 3 bytes between calls
	out  []byte
}

// NewDetokenizer starts a stream.
func (t *Tokenizer) NewDetokenizer(o DecodeOptions) *Detokenizer {
	return &Detokenizer{decoder: decoder{t, o, o.Whole}}
}

// Append takes the next id and gives the text that is complete by it, which is often "" within a character. An id
// outside the vocabulary is an error and leaves the stream as it was.
func (d *Detokenizer) Append(id int32) (string, error) {
	piece, err := d.piece(id)
	if err != nil {
		return "", err
	}
	d.held = append(d.held, piece...)
	var used int
	d.out, used = takeText(d.out[:0], d.held)
	d.held = d.held[:copy(d.held, d.held[used:])]
	return string(d.out), nil
}

// Flush ends the stream and gives what is still held: U+FFFD if the last character is not complete, else "". The
// Detokenizer can then take a new stream.
func (d *Detokenizer) Flush() string {
	d.begin = d.o.Whole
	if len(d.held) == 0 {
		return ""
	}
	d.held = d.held[:0]
	return replacement // what is held is always one maximal subpart
}
