package grammar

import (
	"fmt"
	"maps"
	"slices"
)

// objects is an object within the limits of a schema: its properties in the order of the schema, then others if they are allowed
// expressly, or if the schema names none.
func (c *schemas) objects(m *members, path string) (frag, error) {
	properties := &members{values: map[string]any{}}
	if v, ok := m.get("properties"); ok {
		p, ok := v.(*members)
		if !ok {
			return frag{}, c.fail(join(path, "properties"), "must be an object of schemas")
		}
		properties.names, properties.values = slices.Clone(p.names), maps.Clone(p.values)
	}
	others, given := m.get("additionalProperties")
	if !given {
		others = len(properties.names) == 0
	}
	undescribed := others
	if !given {
		undescribed = true
	}
	required, err := c.required(m, properties, undescribed, path)
	if err != nil {
		return frag{}, err
	}
	if len(properties.names) == 0 && others == true {
		return c.builder.object(), nil
	}
	// Two nodes for each property: nothing has been written before it, or something has.
	first, later := c.node(), c.node()
	start := first
	for _, name := range properties.names {
		nextFirst, nextLater := c.node(), c.node()
		for _, from := range []struct {
			at    int32
			comma bool
		}{{first, false}, {later, true}} {
			value, err := c.schema(properties.values[name], join(path, "properties."+name))
			if err != nil {
				return frag{}, err
			}
			member := c.seq(c.text(quote(name)), c.colon(), value)
			if from.comma {
				member = c.seq(c.comma(), member)
			}
			c.skip(from.at, member.in)
			c.skip(member.out, nextLater)
		}
		if !required[name] {
			c.skip(first, nextFirst)
			c.skip(later, nextLater)
		}
		first, later = nextFirst, nextLater
	}
	if others != false {
		if err := c.others(others, properties.names, first, later, join(path, "additionalProperties")); err != nil {
			return frag{}, err
		}
	}
	in, out := c.text("{"), c.text("}")
	before, after := c.space(), c.space()
	c.skip(first, out.in)
	c.skip(later, after.in)
	c.skip(after.out, out.in)
	c.skip(in.out, before.in)
	c.skip(before.out, start)
	return frag{in.in, out.out}, nil
}

// required reads which properties must be there. One that is not described is as undescribed says.
func (c *schemas) required(m, properties *members, undescribed any, path string) (map[string]bool, error) {
	required := map[string]bool{}
	v, ok := m.get("required")
	if !ok {
		return required, nil
	}
	list, ok := v.([]any)
	for _, n := range list {
		name, isName := n.(string)
		if ok = ok && isName; !ok {
			break
		}
		required[name] = true
		if _, described := properties.get(name); !described {
			if undescribed == false {
				return nil, c.fail(join(path, "required"), "%q is not among properties", name)
			}
			properties.names = append(properties.names, name)
			properties.values[name] = undescribed
		}
	}
	if !ok {
		return nil, c.fail(join(path, "required"), "must be an array of names")
	}
	return required, nil
}

// others adds members that are not among names, after those.
func (c *schemas) others(v any, names []string, first, later int32, path string) error {
	for _, comma := range []bool{false, true} {
		value, err := c.schema(v, path)
		if err != nil {
			return err
		}
		member := c.seq(c.otherName(names), c.colon(), value)
		at := first
		if comma {
			member, at = c.seq(c.comma(), member), later
		}
		c.skip(at, member.in)
		c.skip(member.out, later)
	}
	return nil
}

// otherName is a string, without escapes, that is none of names.
func (c *schemas) otherName(names []string) frag {
	quoteMark := c.text(`"`)
	free := c.node()
	c.encodeAll(free, free)
	c.skip(free, quoteMark.in)
	open := c.text(`"`)
	c.unlike(names, open.out, free, quoteMark.in)
	return frag{open.in, quoteMark.out}
}

// encodeAll leads from one node to another by any character that needs no escape, but those of without.
func (c *schemas) encodeAll(from, to int32, without ...rune) {
	slices.Sort(without)
	for _, s := range rawRunes {
		for _, r := range without {
			if s.lo <= r && r <= s.hi {
				c.encodings(frag{from, to}, span{s.lo, r - 1})
				s.lo = r + 1
			}
		}
		c.encodings(frag{from, to}, s)
	}
}

// unlike goes on from a node at which the rests of names would begin: to free as soon as it is none of them, to end where it ends.
func (c *schemas) unlike(rests []string, at, free, end int32) {
	if c.full() {
		return // which finish finds
	}
	next := map[rune][]string{}
	whole := false
	for _, rest := range rests {
		if rest == "" {
			whole = true
			continue
		}
		for i, r := range rest {
			if i == 0 {
				next[r] = append(next[r], rest[len(string(r)):])
			}
		}
	}
	if !whole {
		c.skip(at, end)
	}
	first := slices.Sorted(maps.Keys(next))
	c.encodeAll(at, free, first...)
	for _, r := range first {
		to := c.node()
		c.encodings(frag{at, to}, span{r, r})
		c.unlike(next[r], to, free, end)
	}
}

// arrays is an array within the limits of a schema.
func (c *schemas) arrays(m *members, path string) (frag, error) {
	least, most, err := c.bounds(m, "minItems", "maxItems", path)
	if err != nil {
		return frag{}, err
	}
	var prefix []any
	if v, ok := m.get("prefixItems"); ok {
		if prefix, ok = v.([]any); !ok {
			return frag{}, c.fail(join(path, "prefixItems"), "must be an array of schemas")
		}
	}
	items, given := m.get("items")
	if !given {
		items = true
	}
	if items == false && (most < 0 || most > len(prefix)) {
		most = len(prefix)
	}
	if most >= 0 && least > most {
		return frag{}, c.fail(join(path, "minItems"), "is more than the items that there may be")
	}
	item := func(i int) (frag, error) {
		if i < len(prefix) {
			return c.schema(prefix[i], fmt.Sprintf("%s[%d]", join(path, "prefixItems"), i))
		}
		return c.schema(items, join(path, "items"))
	}
	open, shut, after := c.text("["), c.text("]"), c.space()
	c.skip(after.out, shut.in)
	if least == 0 {
		c.skip(open.out, shut.in)
	}
	at := open.out
	count := most
	if most < 0 {
		count = max(len(prefix), least, 1)
	}
	for i := range count {
		between := c.space()
		if i > 0 {
			between = c.comma()
		}
		one, err := item(i)
		if err != nil {
			return frag{}, err
		}
		part := c.seq(between, one)
		c.skip(at, part.in)
		at = part.out
		if i+1 >= least {
			c.skip(at, after.in)
		}
	}
	if most < 0 {
		one, err := item(count)
		if err != nil {
			return frag{}, err
		}
		more := c.seq(c.comma(), one)
		c.skip(at, more.in)
		c.skip(more.out, at)
	}
	return frag{open.in, shut.out}, nil
}
