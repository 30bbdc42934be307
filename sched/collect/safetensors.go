package collect

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
)

// tensor is one array of a safetensors file: values are []float32, []int32 or []int8 of the product of shape.
type tensor struct {
	name   string
	shape  []int
	values any
}

var dtypes = map[string]string{"[]float32": "F32", "[]int32": "I32", "[]int8": "I8"}

// writeSafetensors writes a file in the format of https://huggingface.co/docs/safetensors: the length of a JSON header, the
// header, the arrays. It appears whole or not at all.
func writeSafetensors(path string, metadata map[string]string, tensors []tensor) error {
	header := map[string]any{"__metadata__": metadata}
	var data bytes.Buffer
	for _, t := range tensors {
		begin := data.Len()
		if err := binary.Write(&data, binary.LittleEndian, t.values); err != nil {
			return fmt.Errorf("%s: tensor %s: %w", path, t.name, err)
		}
		header[t.name] = map[string]any{"dtype": dtypes[fmt.Sprintf("%T", t.values)], "shape": t.shape, "data_offsets": []int{begin, data.Len()}}
	}
	text, err := json.Marshal(header)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for len(text)%8 != 0 { // the arrays start at a multiple of 8
		text = append(text, ' ')
	}
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(text)))
	return writeWhole(path, append(append(file, text...), data.Bytes()...))
}

func writeWhole(path string, data []byte) error {
	if err := os.WriteFile(path+".part", data, 0o644); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if err := os.Rename(path+".part", path); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}
