package main

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/tokenrouter/tokenrouter/models/tokenizer"
)

// passage is what the prompts are cut from when no file is given.
//
//go:embed passage.txt
var passage string

// prompts returns the token ids of n prompts that all begin differently.
func (p *pair) prompts(path string, n int) ([][]int32, error) {
	texts, err := texts(path)
	if err != nil {
		return nil, err
	}
	list := make([][]int32, n)
	for i := range list {
		text := texts[i%len(texts)]
		if path == "" || i >= len(texts) {
			text = fmt.Sprintf("Question %d. %s", i+1, text)
		}
		list[i] = p.files[0].Tokenizer().Encode(text, tokenizer.Options{AddSpecial: true})
		if len(list[i]) == 0 {
			return nil, fmt.Errorf("prompt %d has no tokens", i+1)
		}
	}
	return list, nil
}

// texts are those of the file, or else parts of the passage, of 12 to 60 words.
func texts(path string) (list []string, err error) {
	if path == "" {
		words := strings.Fields(passage)
		for i := range 17 { // a prime, so that lengths and requests do not go in step
			list = append(list, strings.Join(words[i:i+12+i*48/16], " "))
		}
		return list, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("prompts: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var row struct{ Question, Problem, Prompt string }
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			return nil, fmt.Errorf("prompts: line %d of %s: %w", len(list)+1, path, err)
		}
		text := row.Question + row.Problem + row.Prompt
		if text == "" {
			return nil, fmt.Errorf("prompts: line %d of %s has no question, problem or prompt", len(list)+1, path)
		}
		list = append(list, text)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("prompts: %w", err)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("prompts: %s has no lines", path)
	}
	return list, nil
}
