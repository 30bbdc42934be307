package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/tokenrouter/tokenrouter/models/gguf"
	"github.com/tokenrouter/tokenrouter/models/tokenizer"
)

func newTokenizeCommand() *cobra.Command {
	var decode, special, addSpecial bool
	cmd := &cobra.Command{
		Use:   "tokenize FILE.gguf",
		Short: "Turn text on standard input into token ids, or ids into text",
		Long: `Read text from standard input and print its token ids as a JSON array. With --decode, read such an array and write
exactly the text that they came from, byte for byte, with nothing added. The file may be a vocabulary only.`,
		Example: `  printf 'hello world' | tokenrouter tokenize model.gguf
  echo '[14990, 1879]' | tokenrouter tokenize model.gguf --decode`,
		Args: expects("a GGUF file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := gguf.Open(args[0])
			if err != nil {
				return err
			}
			t, err := tokenizer.New(f)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if decode {
				return decodeIDs(cmd.InOrStdin(), cmd.OutOrStdout(), t)
			}
			return encodeText(cmd.InOrStdin(), cmd.OutOrStdout(), t, tokenizer.Options{ParseSpecial: special, AddSpecial: addSpecial})
		},
	}
	cmd.Flags().BoolVar(&decode, "decode", false, "read a JSON array of ids, write text")
	cmd.Flags().BoolVar(&special, "special", false, `read spellings of special tokens such as "<|im_end|>" as these tokens, not as text`)
	cmd.Flags().BoolVar(&addSpecial, "add-special", false, "add the begin- and end-of-sequence tokens that the file asks for")
	cmd.MarkFlagsMutuallyExclusive("decode", "special")
	cmd.MarkFlagsMutuallyExclusive("decode", "add-special")
	return cmd
}

func encodeText(in io.Reader, out io.Writer, t *tokenizer.Tokenizer, o tokenizer.Options) error {
	text, err := io.ReadAll(in)
	if err != nil {
		return fmt.Errorf("read text from standard input: %w", err)
	}
	line, err := json.Marshal(t.Encode(string(text), o))
	if err != nil {
		return fmt.Errorf("write token ids: %w", err)
	}
	if _, err := out.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write token ids: %w", err)
	}
	return nil
}

func decodeIDs(in io.Reader, out io.Writer, t *tokenizer.Tokenizer) error {
	raw, err := io.ReadAll(in)
	if err != nil {
		return fmt.Errorf("read token ids from standard input: %w", err)
	}
	var ids []int64
	err = json.Unmarshal(raw, &ids)
	if err == nil && ids == nil {
		err = errors.New("it is null")
	}
	if err != nil {
		return fmt.Errorf("standard input is no JSON array of token ids such as [1, 2, 3]: %w", err)
	}
	tokens := make([]int32, len(ids))
	for i, id := range ids {
		if id < 0 || id >= int64(t.VocabSize()) {
			return fmt.Errorf("id %d, at place %d of the array, is outside the vocabulary, expected 0 to %d", id, i, t.VocabSize()-1)
		}
		tokens[i] = int32(id)
	}
	text, err := t.DecodeBytes(tokens, tokenizer.DecodeOptions{Whole: true})
	if err != nil {
		return err
	}
	if _, err := out.Write(text); err != nil {
		return fmt.Errorf("write text: %w", err)
	}
	return nil
}
