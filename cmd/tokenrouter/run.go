package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tokenrouter/tokenrouter/models/chat"
	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/api"
	"github.com/tokenrouter/tokenrouter/server/app"
)

// question is what `run` asks.
type question struct {
	model, system, level string
	maxTokens            int
	temperature          float64
	seed                 int64
	algorithm            string
	params               router.Params // what of it was given
	threshold, share     float64
	draft                int
	noColour             bool
}

func newRunCommand() *cobra.Command {
	var from source
	var q question
	cmd := &cobra.Command{
		Use:   "run PROMPT",
		Short: "Answer one prompt in the terminal, each token in the colour of the model that wrote it",
		Long: `Load the models, answer one prompt, and say who wrote what. The answer goes to standard output, everything else to
standard error. A PROMPT of - is read from standard input.`,
		Example: `  tokenrouter run --small small.gguf --large large.gguf "Why is the sky blue?"
  tokenrouter run --model small "The same question to one model alone"
  tokenrouter run --demo --algorithm r2r "57 - 46 = ?"
  git diff | tokenrouter run - --system "Write a commit message for this change."`,
		Args: onePrompt,
		RunE: func(cmd *cobra.Command, args []string) error {
			prompt, err := readPrompt(cmd.InOrStdin(), args[0])
			if err != nil {
				return err
			}
			return run(cmd, &from, &q, prompt)
		},
	}
	from.addFlags(cmd)
	f := cmd.Flags()
	f.StringVarP(&q.model, "model", "m", "", "`NAME` of the route or model that answers; default: the first route, else the first model")
	f.StringVar(&q.system, "system", "", "system message, `TEXT`")
	f.IntVar(&q.maxTokens, "max-tokens", 0, "most tokens to write; 0: as many as the context allows")
	f.Float64Var(&q.temperature, "temperature", 0, "0: the likeliest token each time; above, up to 2: the higher the more varied")
	f.Int64Var(&q.seed, "seed", 0, "of the draw, with a temperature above 0; default: another each time")
	f.Float64Var(&q.threshold, "threshold", 0, fmt.Sprintf("how unsure the small model may be and still write, 0 to 1; the higher, the more it writes, at 1 all;\ndefault: the route's, or else %g", router.RStitchThreshold))
	f.StringVarP(&q.algorithm, "algorithm", "a", "", "who writes which token, `NAME`: "+strings.Join(algorithms(), ", ")+";\ndefault: the route's. Without --model, the first route that has it answers, so that its trained router is used")
	f.StringVar(&q.params.Strategy, "strategy", "", "`NAME` of a variant of the algorithm")
	f.Float64Var(&q.share, "large-share", 0, "share of the tokens that the large model is to write, 0 to 1, in place of a threshold")
	f.Float64SliceVar(&q.params.Weights, "weights", nil, "how often each model writes, `A,B,...`, relative to their sum; of the ensemble")
	f.IntVar(&q.draft, "draft", router.SpeculativeDraft, fmt.Sprintf("tokens that the small model drafts at a time, 1 to %d; of speculative", router.SpeculativeMost))
	f.BoolVar(&q.noColour, "no-color", false, "write no colours; nor are there any with NO_COLOR set, or when the output is no terminal")
	f.StringVar(&q.level, "log-level", "warn", "debug, info, warn or error")
	return cmd
}

// onePrompt checks the arguments.
func onePrompt(_ *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return errors.New(`no PROMPT given: write it in quotes, tokenrouter run "Why is the sky blue?", or - to read it from standard input`)
	case len(args) > 1:
		return fmt.Errorf("%d PROMPTs given, expected one: put the whole prompt in quotes", len(args))
	}
	return nil
}

func readPrompt(in io.Reader, arg string) (string, error) {
	prompt, where := arg, ""
	if arg == "-" {
		text, err := io.ReadAll(in)
		if err != nil {
			return "", fmt.Errorf("read the prompt from standard input: %w", err)
		}
		prompt, where = string(text), ": there is no text on standard input"
	}
	if strings.TrimSpace(prompt) == "" {
		return "", errors.New("the prompt is empty" + where)
	}
	return prompt, nil
}

// run loads, asks, shows and closes.
func run(cmd *cobra.Command, from *source, q *question, prompt string) (err error) {
	if err := q.check(); err != nil {
		return err
	}
	cfg, err := from.load()
	if err != nil {
		return err
	}
	cfg.Batching.Policy = string(sched.Eager) // one request has nobody to wait for, and needs no profile of the models
	aside := newScreen(cmd.ErrOrStderr())
	log, err := newLog(aside, q.level, "text")
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	loader, err := app.NewLoader(cfg, app.Options{Log: log, Library: from.library, Version: version})
	if err != nil {
		return err
	}
	done := watch(aside, loader)
	runtime, err := loader.Load(ctx)
	done()
	if ctx.Err() != nil && runtime == nil {
		return errInterrupted
	}
	if err != nil {
		return err
	}
	defer func() {
		now, cancel := context.WithCancel(context.Background())
		cancel() // what still runs was interrupted
		err = errors.Join(err, runtime.Close(now))
	}()
	target, err := q.target(runtime.Targets)
	if err != nil {
		return err
	}
	request, err := q.request(cmd, target, prompt)
	if err != nil {
		return err
	}
	stream, err := runtime.Engine.Submit(ctx, request)
	if err != nil {
		return err
	}
	return show(cmd, target, stream, q.noColour)
}

func (q *question) check() error {
	switch {
	case q.maxTokens < 0:
		return errors.New("--max-tokens: expected 0 (no limit) or more")
	case !(q.temperature >= 0 && q.temperature <= 2): // NaN is neither
		return errors.New("--temperature: expected 0 to 2")
	}
	if q.algorithm != "" && !slices.Contains(algorithms(), q.algorithm) {
		return fmt.Errorf("--algorithm: there is no %q; there are: %s", q.algorithm, strings.Join(algorithms(), ", "))
	}
	return nil
}

// algorithms are the ones that a route can have.
func algorithms() []string {
	return slices.DeleteFunc(router.Names(), func(name string) bool { return name == router.SingleName })
}

func (q *question) target(targets []api.Target) (*api.Target, error) {
	if q.model == "" {
		i := slices.IndexFunc(targets, func(t api.Target) bool { return t.Algorithm == q.algorithm })
		return &targets[max(i, 0)], nil
	}
	i := slices.IndexFunc(targets, func(t api.Target) bool { return t.Name == q.model })
	if i < 0 {
		names := make([]string, len(targets))
		for i := range targets {
			names[i] = targets[i].Name
		}
		return nil, fmt.Errorf("--model: there is no %q; there are: %s", q.model, strings.Join(names, ", "))
	}
	return &targets[i], nil
}

func (q *question) request(cmd *cobra.Command, t *api.Target, prompt string) (sched.Request, error) {
	var messages []chat.Message
	if q.system != "" {
		messages = append(messages, chat.System(q.system))
	}
	ids, err := t.Text.Prompt(chat.Request{Messages: append(messages, chat.User(prompt))})
	if err != nil {
		return sched.Request{}, err
	}
	r := sched.Request{
		Target: t.Name, Algorithm: q.algorithm, Params: q.params, Prompt: ids, MaxTokens: q.maxTokens,
		Sampling: sched.Sampling{Temperature: float32(q.temperature), Seed: uint64(q.seed)},
	}
	if !cmd.Flags().Changed("seed") {
		r.Sampling.Seed = rand.Uint64()
	}
	if cmd.Flags().Changed("threshold") {
		r.Params.Threshold = &q.threshold
	}
	if cmd.Flags().Changed("large-share") {
		r.Params.LargeShare = &q.share
	}
	if cmd.Flags().Changed("draft") {
		r.Params.Draft = &q.draft
	}
	return r, nil
}
