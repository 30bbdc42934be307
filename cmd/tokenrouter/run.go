package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
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
	thresholdSet         bool
	noColour             bool
	interactive, asJSON  bool
}

func newRunCommand() *cobra.Command {
	var from source
	var q question
	cmd := &cobra.Command{
		Use:   "run [PROMPT]",
		Short: "Answer in the terminal, each token in the colour of the model that wrote it",
		Long: `Load the models, answer one prompt, and say who wrote what. The answer goes to standard output, everything else to
standard error. A PROMPT of - is read from standard input.

Without PROMPT, in a terminal, prompts are asked for one after the other, and the models know the conversation so far. ctrl-C ends an
answer, ctrl-D the conversation, /help lists commands. With --interactive that also goes with prompts from a pipe, one a line.`,
		Example: `  tokenrouter run --small small.gguf --large large.gguf "Why is the sky blue?"
  tokenrouter run --pair qwen2.5-coder-0.5b-1.5b
  tokenrouter run --model small "The same question to one model alone"
  tokenrouter run --demo --algorithm r2r "What is 412 minus 87?"
  git diff | tokenrouter run - --system "Write a commit message for this change."`,
		Args: func(cmd *cobra.Command, args []string) error { return q.arguments(cmd, args) },
		RunE: func(cmd *cobra.Command, args []string) error {
			prompt := ""
			if len(args) > 0 {
				var err error
				if prompt, err = readPrompt(cmd.InOrStdin(), args[0]); err != nil {
					return err
				}
			}
			q.thresholdSet = cmd.Flags().Changed("threshold")
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
	f.BoolVarP(&q.interactive, "interactive", "i", false, "ask for prompts until the input ends, also where it is no terminal")
	f.BoolVar(&q.asJSON, "json", false, "print the answer and its account as one JSON object when it is complete")
	f.StringVar(&q.level, "log-level", "warn", "debug, info, warn or error")
	return cmd
}

// arguments checks the arguments, and says whether this is a conversation.
func (q *question) arguments(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0 && (q.interactive || inTerminal(cmd)):
		q.interactive = true
	case len(args) == 0:
		return errors.New(`no PROMPT given: write it in quotes, tokenrouter run "Why is the sky blue?", or - to read it from standard input`)
	case len(args) > 1:
		return fmt.Errorf("%d PROMPTs given, expected one: put the whole prompt in quotes", len(args))
	case q.interactive:
		return errors.New("--interactive asks for prompts: give no PROMPT with it")
	}
	if q.interactive && q.asJSON {
		return errors.New("--json is for one prompt: give a PROMPT with it")
	}
	return nil
}

// inTerminal reports whether a person can be asked.
func inTerminal(cmd *cobra.Command) bool {
	in, ok := cmd.InOrStdin().(*os.File)
	return ok && isTerminal(in) && isTerminal(cmd.OutOrStdout())
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
	loader, err := app.NewLoader(cfg, app.Options{Log: log, Library: from.library, CUDALibrary: from.cudaLibrary, Version: version})
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
		return fmt.Errorf("--model: %w", err)
	}
	if q.interactive {
		return (&conversation{cmd: cmd, q: q, runtime: runtime, target: target, aside: cmd.ErrOrStderr()}).talk()
	}
	request, err := q.request(cmd, target, []chat.Message{chat.User(prompt)})
	if err != nil {
		return err
	}
	stream, err := runtime.Engine.Submit(ctx, request)
	if err != nil {
		return err
	}
	return q.once(cmd, target, stream)
}

// once shows the answer to one prompt.
func (q *question) once(cmd *cobra.Command, t *api.Target, stream *sched.Stream) (err error) {
	var a shown
	if q.asJSON {
		if a, err = listen(stream, func(sched.Event) error { return nil }); err == nil {
			err = printJSON(cmd.OutOrStdout(), answerJSON{
				a.text, t.Name, a.summary.Algorithm, string(a.finish), a.summary.Prompt, a.summary.Completion,
				a.summary.Tokens, a.summary.Handoffs, a.summary.Discarded, a.seconds,
			})
		}
	} else {
		showLegend(cmd, t, q.noColour)
		a, err = show(cmd, t, stream, q.noColour)
	}
	if err == nil && a.finish == sched.FinishCancelled {
		return errInterrupted
	}
	return err
}

// answerJSON is the JSON of run. Names stay: scripts read them.
type answerJSON struct {
	Answer     string         `json:"answer"`
	Model      string         `json:"model"` // route or model that was asked
	Algorithm  string         `json:"algorithm"`
	Finish     string         `json:"finish_reason"`
	Prompt     int            `json:"prompt_tokens"`
	Completion int            `json:"completion_tokens"`
	Tokens     map[string]int `json:"tokens"` // by the model that wrote them
	Handoffs   int            `json:"handoffs"`
	Discarded  int            `json:"discarded"`
	Seconds    float64        `json:"seconds"` // from the first token to the last
}

func (q *question) check() error {
	switch {
	case q.maxTokens < 0:
		return fmt.Errorf("--max-tokens: expected 0 (no limit) or more, found %d", q.maxTokens)
	case !(q.temperature >= 0 && q.temperature <= 2): // NaN is neither
		return fmt.Errorf("--temperature: expected 0 to 2, found %g", q.temperature)
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
		return nil, fmt.Errorf("there is no %q; there are: %s", q.model, strings.Join(names, ", "))
	}
	return &targets[i], nil
}

func (q *question) request(cmd *cobra.Command, t *api.Target, turns []chat.Message) (sched.Request, error) {
	var messages []chat.Message
	if q.system != "" {
		messages = append(messages, chat.System(q.system))
	}
	ids, err := t.Text.Prompt(chat.Request{Messages: append(messages, turns...)})
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
	if q.thresholdSet {
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
