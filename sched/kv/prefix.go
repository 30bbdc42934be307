package kv

import (
	"crypto/sha256"
	"encoding/binary"
)

// key names the contents of a full page: a digest of all tokens from the beginning of the sequence to the page's end.
type key [16]byte

// prefixes is the pages that nobody owns but whose contents may be wanted again, and all full pages by their contents.
type prefixes struct {
	index map[key]int32
	keys  []key  // [pages]
	keyed []bool // [pages] keys holds the page's, and index leads to it
	text  []byte // memory of next

	// The pages without an owner, a list from the one that was given up longest ago: links of page p are at p+1, the ends at 0.
	before, after []int32
	idle          int
}

func newPrefixes(pages int) prefixes {
	return prefixes{index: make(map[key]int32), keys: make([]key, pages), keyed: make([]bool, pages),
		before: make([]int32, pages+1), after: make([]int32, pages+1)}
}

// next is the key of the page that holds these tokens after the page with key last.
func (x *prefixes) next(last key, tokens []int32) key {
	x.text = append(x.text[:0], last[:]...)
	for _, t := range tokens {
		x.text = binary.LittleEndian.AppendUint32(x.text, uint32(t))
	}
	sum := sha256.Sum256(x.text)
	return key(sum[:len(key{})])
}

// name gives a page its key, unless another page with the same contents has it.
func (x *prefixes) name(page int32, k key) {
	if _, ok := x.index[k]; ok || x.keyed[page] {
		return
	}
	x.index[k], x.keys[page], x.keyed[page] = page, k, true
}

// unname forgets what is in a page.
func (x *prefixes) unname(page int32) {
	if x.keyed[page] {
		delete(x.index, x.keys[page])
		x.keyed[page] = false
	}
}

// keep puts a page without an owner at the end of the list.
func (x *prefixes) keep(page int32) {
	i, last := page+1, x.before[0]
	x.before[i], x.after[i] = last, 0
	x.after[last], x.before[0] = i, i
	x.idle++
}

// drop takes a page out of the list.
func (x *prefixes) drop(page int32) {
	i := page + 1
	x.after[x.before[i]], x.before[x.after[i]] = x.after[i], x.before[i]
	x.idle--
}

// oldest takes the page that was given up longest ago out of the list, and forgets what is in it.
func (x *prefixes) oldest() int32 {
	page := x.after[0] - 1
	x.drop(page)
	x.unname(page)
	return page
}

// Match gives an empty sequence the pages of the longest beginning of tokens that is in the cache, whole pages only, and
// returns how many tokens these hold: the sequence's length from then on.
func (p *Pool) Match(s *Sequence, tokens []int32) int {
	if len(s.pages) > 0 {
		return s.length
	}
	var last key
	for n := p.pageTokens; n <= len(tokens); n += p.pageTokens {
		k := p.prefixes.next(last, tokens[n-p.pageTokens:n])
		page, ok := p.prefixes.index[k]
		if !ok {
			break
		}
		if p.refs[page] == 0 {
			p.prefixes.drop(page)
		}
		p.refs[page]++
		s.pages, s.keys, s.length, last = append(s.pages, page), append(s.keys, k), n, k
	}
	return s.length
}

// Publish lets others have the full pages of a sequence, whose tokens these are, by Match. They outlive the sequence until
// their memory is needed: the page that was given up longest ago goes first.
func (p *Pool) Publish(s *Sequence, tokens []int32) {
	for i := len(s.keys); (i+1)*p.pageTokens <= min(s.length, len(tokens)); i++ {
		var last key
		if i > 0 {
			last = s.keys[i-1]
		}
		k := p.prefixes.next(last, tokens[i*p.pageTokens:(i+1)*p.pageTokens])
		s.keys = append(s.keys, k)
		p.prefixes.name(s.pages[i], k)
	}
}

// Forget makes the cache as good as new, but for the pages that sequences own: nothing is found in it any more.
func (p *Pool) Forget() {
	for p.prefixes.idle > 0 {
		p.free = append(p.free, p.prefixes.oldest())
	}
}

// CachedPages is the number of free pages that Match may still find.
func (p *Pool) CachedPages() int { return p.prefixes.idle }
