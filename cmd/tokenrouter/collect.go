package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/tokenrouter/tokenrouter/models"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/sched/collect"
)

// collectFlags are the arguments of collect.
type collectFlags struct {
	small, large, prompts, out, library string
	threads                             int
	options                             collect.Options
}

func newCollectCommand() *cobra.Command {
	var c collectFlags
	cmd := &cobra.Command{
		Use:   "collect --small FILE --large FILE --prompts FILE.jsonl --out DIR",
		Short: "Gather what a router is trained on",
		Long: `Let the large model answer each prompt, and store for every position of its answer what the small model sees there and
would have written: one safetensors file per prompt. With --rollouts, also whether the result stays right with the small
model's token. Started again with the same arguments, it goes on where it stopped.

A line of the prompt set is a JSON object with "prompt" (or "messages") and, for --rollouts, "answer": a text whose last
number is the right result.`,
		Args: expectsNone,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&c.small, "small", "", "GGUF `FILE` of the small model")
	f.StringVar(&c.large, "large", "", "GGUF `FILE` of the large model")
	f.StringVar(&c.prompts, "prompts", "", "prompt set, `FILE`")
	f.StringVar(&c.out, "out", "", "`DIR` that the files go to")
	f.StringVar(&c.options.Rollouts, "rollouts", collect.RolloutNone, "`WHO` finishes an answer after another token of the small model: none, small or large")
	f.IntVar(&c.options.Top, "top", 100, "logits kept of each position")
	f.IntVar(&c.options.MaxTokens, "max-tokens", 512, "most tokens of an answer")
	f.IntVar(&c.options.Live, "live", 32, "prompts in work, and answers that a model writes, at a time: more are faster and take more memory")
	f.IntVar(&c.threads, "threads", 0, "threads of a step; 0: all cores")
	f.StringVar(&c.library, "library", "", "native library to load, `FILE`; default: the one built in")
	for _, name := range []string{"small", "large", "prompts", "out"} {
		_ = cmd.MarkFlagRequired(name) // fails only for a flag that does not exist
	}
	return cmd
}

func (c *collectFlags) run(cmd *cobra.Command) (err error) {
	prompts, err := readPrompts(c.prompts)
	if err != nil {
		return err
	}
	if err := c.claim(); err != nil {
		return err
	}
	device, err := sched.OpenNativeDevice(sched.NativeOptions{Library: c.library, Threads: c.threads})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, device.Close()) }()
	var pair [2]collect.Model
	for i, path := range []string{c.small, c.large} {
		if pair[i].Text, err = models.Open(path); err != nil {
			return err
		}
		if pair[i].Native, err = loadModel(cmd.ErrOrStderr(), device, path); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, pair[i].Native.Close()) }()
	}
	collector, err := collect.New(pair[0], pair[1], c.options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, collector.Close()) }()
	if err := c.writeAll(cmd, collector, prompts); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %d prompts\n", c.out, len(prompts))
	return err
}

// writeAll writes the files that are not there yet, of some prompts at a time. The first error ends it.
func (c *collectFlags) writeAll(cmd *cobra.Command, collector *collect.Collector, prompts []collect.Prompt) error {
	step, clear := countBar(cmd.ErrOrStderr(), "collecting", len(prompts))
	defer clear()
	ctx, fail := context.WithCancelCause(cmd.Context())
	defer fail(nil)
	var workers sync.WaitGroup
	var done atomic.Int32
	next := make(chan int)
	for range c.options.Live {
		workers.Go(func() {
			for i := range next {
				path := filepath.Join(c.out, fmt.Sprintf("%06d.safetensors", i))
				_, err := os.Stat(path)
				if errors.Is(err, os.ErrNotExist) {
					err = collector.Write(ctx, path, prompts[i])
				}
				if err != nil {
					fail(fmt.Errorf("%s: prompt %d: %w", c.prompts, i+1, err))
				}
				step(int(done.Add(1)))
			}
		})
	}
	for i := range prompts {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	workers.Wait()
	if cmd.Context().Err() != nil {
		return errInterrupted
	}
	return context.Cause(ctx)
}

// claim writes down in the directory what its files are made of, or checks that it is the same.
func (c *collectFlags) claim() error {
	settings := map[string]any{"top": c.options.Top, "max_tokens": c.options.MaxTokens, "rollouts": c.options.Rollouts}
	for name, path := range map[string]string{"small": c.small, "large": c.large, "prompts": c.prompts} {
		digest, err := digestOf(path)
		if err != nil {
			return err
		}
		settings[name], settings[name+"_sha256"] = filepath.Base(path), digest
	}
	text, err := json.MarshalIndent(settings, "", " ")
	if err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	if err := os.MkdirAll(c.out, 0o755); err != nil {
		return err
	}
	path := filepath.Join(c.out, "settings.json")
	found, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return os.WriteFile(path, text, 0o644)
	case err != nil:
		return err
	case !bytes.Equal(found, text):
		return fmt.Errorf("%s was collected with other models, prompts or settings (see %s): name another directory", c.out, path)
	}
	return nil
}

func digestOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func readPrompts(path string) ([]collect.Prompt, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []collect.Prompt
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		p, err := collect.ParsePrompt(lines.Bytes())
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, len(all)+1, err)
		}
		all = append(all, p)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return all, nil
}
