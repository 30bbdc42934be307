package chat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/ardanlabs/jinja"
)

// maxJSONDepth bounds tools, arguments and variables.
const maxJSONDepth = 100

// fromJSON reads JSON as a value of the template, keys in the order of the text.
func fromJSON(raw []byte) (jinja.Value, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	v, err := readValue(d, 0)
	if err != nil {
		return v, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return v, fmt.Errorf("there is something behind the JSON value")
	}
	return v, nil
}

func readValue(d *json.Decoder, depth int) (jinja.Value, error) {
	t, err := d.Token()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return jinja.None(), fmt.Errorf("not valid JSON: %w", err)
	}
	if depth > maxJSONDepth {
		return jinja.None(), fmt.Errorf("JSON is nested more than %d deep", maxJSONDepth)
	}
	switch t := t.(type) {
	case bool:
		return jinja.NewBool(t), nil
	case string:
		return jinja.NewString(t), nil
	case json.Number:
		return number(string(t))
	case json.Delim:
		if t == '[' {
			return readList(d, depth)
		}
		return readDict(d, depth)
	}
	return jinja.None(), nil
}

func number(s string) (jinja.Value, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return jinja.NewInt(n), nil
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return jinja.None(), fmt.Errorf("the number %s is too large", s)
	}
	return jinja.NewFloat(x), nil
}

func readList(d *json.Decoder, depth int) (jinja.Value, error) {
	items := []jinja.Value{}
	for d.More() {
		v, err := readValue(d, depth+1)
		if err != nil {
			return v, err
		}
		items = append(items, v)
	}
	return jinja.NewList(items), endOf(d)
}

func readDict(d *json.Decoder, depth int) (jinja.Value, error) {
	out := jinja.NewDict()
	for d.More() {
		k, err := d.Token()
		if err != nil {
			return out, fmt.Errorf("not valid JSON: %w", err)
		}
		v, err := readValue(d, depth+1)
		if err != nil {
			return v, err
		}
		out.AsDict().Set(k.(string), v)
	}
	return out, endOf(d)
}

func endOf(d *json.Decoder) error {
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("not valid JSON: %w", err)
	}
	return nil
}
