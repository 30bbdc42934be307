package output

import (
	"encoding/json"
	"slices"
	"strings"
)

// scanState is how far a scanner has come.
type scanState int

const (
	scanMore   scanState = iota // the call goes on
	scanOver                    // the object has ended
	scanBroken                  // it is no call
)

// scanner reads the object of a call, {"name": ..., "arguments": ...}, as it comes. Once the name is known the arguments are
// given out as they are written.
type scanner struct {
	opening string   // what stood before the object
	bare    bool     // without a mark
	tools   []string // that the call must be of; nil: any
	seen    []byte   // of the object, while it may turn out to be none

	named  bool
	calls  []Call // not yet taken
	expect byte   // '{', 'k' a key, ':', 'v' a value, ',' a comma or the end
	key    string
	value  valueScanner
	// streamed: the value is given out as it comes, since it is the arguments, and the name is known.
	streamed bool
	buffer   strings.Builder // of a string or a value that is not given out as it comes
	early    string          // arguments that came before the name
	given    bool            // arguments have begun
}

// take returns the pieces so far.
func (s *scanner) take() []Call {
	c := s.calls
	s.calls = nil
	return c
}

// add takes more of the text and returns what lies behind the object.
func (s *scanner) add(text string) (rest string, state scanState) {
	for i := 0; i < len(text); i++ {
		c := text[i]
		if !s.named {
			s.seen = append(s.seen, c)
		}
		if s.value.open() {
			if !s.inValue(c) {
				return text[i+1:], scanBroken
			}
			if s.value.open() || !s.value.number {
				continue
			}
			s.value = valueScanner{} // a number ends before what follows it
		}
		switch {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
		case s.expect == 0 && c == '{':
			s.expect = 'k'
		case s.expect == 'k' && c == '"', s.expect == 'v' && c != ',' && c != '}' && c != ']' && c != ':':
			s.buffer.Reset()
			s.value.begin(c)
			s.streamed = s.expect == 'v' && s.named && isArguments(s.key) && (c == '{' || c == '[')
			if !s.inValue(c) {
				return text[i+1:], scanBroken
			}
		case s.expect == ':' && c == ':':
			s.expect = 'v'
		case s.expect == ',' && c == ',':
			s.expect = 'k'
		case s.expect == ',' && c == '}':
			s.flush()
			if !s.named {
				return text[i+1:], scanBroken
			}
			if !s.given {
				s.calls = append(s.calls, Call{Arguments: "{}"})
			}
			return text[i+1:], scanOver
		default:
			return text[i+1:], scanBroken
		}
	}
	return "", scanMore
}

func isArguments(key string) bool { return key == "arguments" || key == "parameters" }

// inValue takes a byte of a key or value, and reports whether the object can still be a call.
func (s *scanner) inValue(c byte) bool {
	part, over := s.value.add(c)
	if part {
		if s.streamed {
			s.emit(string([]byte{c}))
		} else {
			s.buffer.WriteByte(c)
		}
	}
	if !over {
		return true
	}
	if s.expect == 'k' {
		s.expect = ':'
		return json.Unmarshal([]byte(s.buffer.String()), &s.key) == nil
	}
	s.expect = ','
	value := s.buffer.String()
	switch {
	case s.key == "name":
		var name string
		if s.named || json.Unmarshal([]byte(value), &name) != nil || name == "" {
			return s.named
		}
		if s.tools != nil && !slices.Contains(s.tools, name) {
			return false
		}
		s.named, s.seen = true, nil
		s.calls = append(s.calls, Call{Name: name})
		s.flush()
	case isArguments(s.key) && !s.streamed:
		var inner string
		if json.Unmarshal([]byte(value), &inner) == nil && value != "null" { // a string that holds them
			value = inner
		}
		if value == "null" {
			return true
		}
		s.early = value
		if s.named {
			s.flush()
		}
	}
	return true
}

// flush gives out arguments that came before the name.
func (s *scanner) flush() {
	if s.named && s.early != "" {
		s.emit(s.early)
		s.early = ""
	}
}

// emit gives out arguments; pieces that come together are one.
func (s *scanner) emit(text string) {
	s.given = true
	if n := len(s.calls); n > 0 && s.calls[n-1].Name == "" {
		s.calls[n-1].Arguments += text
		return
	}
	s.calls = append(s.calls, Call{Arguments: text})
}

// valueScanner finds where a JSON value ends.
type valueScanner struct {
	first   byte // 0: none is open
	depth   int
	quoted  bool
	escaped bool
	number  bool // or true, false, null: it ends before a byte that is no part of it
}

func (v *valueScanner) open() bool { return v.first != 0 }

func (v *valueScanner) begin(c byte) {
	*v = valueScanner{first: c, number: c != '"' && c != '{' && c != '['}
}

// add takes a byte. part says that it belongs to the value, over that the value has ended.
func (v *valueScanner) add(c byte) (part, over bool) {
	switch {
	case v.number:
		if strings.IndexByte(",}] \n\t\r", c) >= 0 {
			v.first = 0
			return false, true
		}
		return true, false
	case v.escaped:
		v.escaped = false
	case v.quoted:
		v.escaped = c == '\\'
		v.quoted = c != '"'
	case c == '"':
		v.quoted = true
	case c == '{' || c == '[':
		v.depth++
	case c == '}' || c == ']':
		v.depth--
	}
	if v.depth == 0 && !v.quoted && !v.escaped {
		v.first = 0
		return true, true
	}
	return true, false
}
