package chat

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ardanlabs/jinja"
)

// Memory is bounded by an account of what a rendering makes: every operation that makes a text or a list has the bytes
// charged, before it makes them where the result can be larger than what goes in. What is put into a list or a mapping is
// copied and charged as a whole, so that values are trees, never larger than the account, whatever is done with them.
const (
	maxValue = 16 << 20 // bytes of one value, besides the conversation's
	maxTotal = 64 << 20 // bytes of all
	perInput = 64       // bytes of all that a byte of the conversation allows further

	itemBytes  = 64 // of a value in a list
	entryBytes = 128
)

const advice = "give another template with chat_template"

// newGuard sizes the account for a conversation: templates copy it some times.
func newGuard(vars map[string]jinja.Value) *guard {
	n := 0
	for _, v := range vars {
		n += sizeOf(v)
	}
	return &guard{value: maxValue + 4*n, total: maxTotal + perInput*n}
}

// sizeOf is the size of a value with all that is in it. It is for values that are trees.
func sizeOf(v jinja.Value) int {
	n := itemBytes
	switch {
	case v.IsString():
		n += len(v.AsString())
	case v.IsList():
		for _, x := range v.AsList().Items {
			n += sizeOf(x)
		}
	case v.IsDict():
		for k, x := range v.AsDict().Data {
			n += entryBytes + len(k) + sizeOf(x)
		}
	}
	return n
}

// fits says whether one value may have that many items of a size.
func (g *guard) fits(items, size int) error {
	if items > 0 && size > 0 && items > g.value/size {
		return fmt.Errorf("the chat template makes a text or list of more than %d bytes; %s", g.value, advice)
	}
	return nil
}

func (g *guard) charge(n int) error {
	if g.spent += n; n < 0 || g.spent > g.total {
		return fmt.Errorf("the chat template makes texts and lists of more than %d bytes in all; %s", g.total, advice)
	}
	return nil
}

// reserve is fits and charge for a text or list that is about to be made.
func (g *guard) reserve(n int) error {
	if err := g.fits(1, n); err != nil {
		return err
	}
	return g.charge(n)
}

// keep charges a value that was made: itself, not what was in it before.
func (g *guard) keep(v jinja.Value) (jinja.Value, error) {
	n := 0
	switch {
	case v.IsString():
		n = len(v.AsString())
	case v.IsList():
		n = itemBytes * v.AsList().Len()
	case v.IsDict():
		n = entryBytes * v.AsDict().Len()
	}
	return v, g.reserve(n)
}

func (g *guard) charged(f function) function {
	return func(args []jinja.Value, kw map[string]jinja.Value) (jinja.Value, error) {
		v, err := f(args, kw)
		if err != nil {
			return v, err
		}
		return g.keep(v)
	}
}

func (g *guard) kept(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	if v := args[0]; v.IsList() && cap(v.AsList().Items) > 2*v.AsList().Len()+itemBytes { // the engine made room for more
		v.AsList().Items = slices.Clone(v.AsList().Items)
	}
	return g.keep(args[0])
}

// copied copies a value with all that is in it.
func (g *guard) copied(v jinja.Value) (jinja.Value, error) {
	switch {
	case v.IsString():
		return v, g.charge(itemBytes + len(v.AsString()))
	case v.IsList():
		items, err := g.copies(v.AsList().Items)
		return jinja.NewList(items), err
	case v.IsDict():
		out := jinja.NewDict()
		for _, k := range v.AsDict().Keys {
			if err := g.charge(entryBytes + len(k)); err != nil {
				return v, err
			}
			x, err := g.copied(v.AsDict().Data[k])
			if err != nil {
				return v, err
			}
			out.AsDict().Set(k, x)
		}
		return out, g.charge(entryBytes)
	}
	return v, g.charge(itemBytes)
}

func (g *guard) copies(list []jinja.Value) ([]jinja.Value, error) {
	if err := g.reserve(itemBytes * (1 + len(list))); err != nil {
		return nil, err
	}
	out := make([]jinja.Value, len(list))
	for i, x := range list {
		var err error
		if out[i], err = g.copied(x); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (g *guard) own(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	if len(args) != 1 {
		return jinja.None(), fmt.Errorf("%d values where one is expected", len(args))
	}
	return g.copied(args[0])
}

// mapping is the functions namespace and dict.
func (g *guard) mapping(_ []jinja.Value, kw map[string]jinja.Value) (jinja.Value, error) {
	out := jinja.NewDict()
	for _, k := range slices.Sorted(maps.Keys(kw)) {
		x, err := g.copied(kw[k])
		if err != nil {
			return x, err
		}
		out.AsDict().Set(k, x)
	}
	return out, g.charge(entryBytes * (1 + len(kw)))
}

// index is a bound of a slice: the engine makes room for all that it spans.
func (g *guard) index(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	if len(args) != 1 || !args[0].IsInt() {
		return option(args, nil, 0, "", jinja.None()), nil
	}
	far := int64(g.value / 4)
	return jinja.NewInt(min(max(args[0].AsInt(), -far), far)), nil
}

// iterated is what a loop goes through: a text becomes a list of its characters.
func (g *guard) iterated(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	if len(args) != 1 {
		return jinja.None(), fmt.Errorf("%d values to loop over, expected 1", len(args))
	}
	if args[0].IsString() {
		return args[0], g.characters(args[0].AsString())
	}
	return args[0], nil
}

// characters charges the list of the characters of s.
func (g *guard) characters(s string) error {
	if err := g.fits(len(s), itemBytes); err != nil {
		return err
	}
	return g.charge(itemBytes * len(s))
}

// called makes what a call block calls charge the text that it gives.
func (g *guard) called(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	if len(args) != 1 || !args[0].IsCallable() {
		return jinja.None(), fmt.Errorf("call: what is called is no macro")
	}
	f := args[0].AsCallable().Fn
	return jinja.NewCallable("call", func(args []jinja.Value, kw map[string]jinja.Value) (jinja.Value, error) {
		v, err := f(args, kw)
		if err != nil {
			return v, err
		}
		if v, err = g.printed([]jinja.Value{v}, nil); err != nil {
			return v, err
		}
		return g.keep(v)
	}), nil
}
