// Command policies compares the batching policies on a real pair of models: the large one writes a fixed share of the
// positions, chosen by the seed (route "random"), so that the tokens are the same under every policy, which is checked.
//
//	go run ./bench/policies --small SMALL.gguf --large LARGE.gguf \
//	    --requests 1,4,8,16,32 --share 0.1,0.3 --tokens 128 --rounds 3 --out bench/results/policies.json
//
// Weights are loaded once. For each number of live requests and each share every policy runs once per round, the order being
// reversed from round to round, so that a machine whose speed drifts treats all alike; figures are medians of the rounds, and
// ratios medians of the rounds' ratios. Requests start together, each on a prompt of its own that no cache knows; with --each
// more than 1 everyone asks again as soon as it has been answered. The file is written anew after each case, so that what was
// measured is kept when the run is ended early; with --add cases, and rounds of cases, are added to those that it holds already,
// so that a long measurement can be made in pieces.
//
// "all" counts all tokens from the first request to the last answer, prompts and the end, when fewer and fewer are live,
// included: what a client sees. "steady" counts those between the moment at which every request has written a quarter of its
// answer and the moment at which the first one is through: there as many are live as the throughput model assumes. Its prediction,
// to which the prompts' time is added, is compared with what the policy does at the step times that it is made for. Policies whose thresholds follow the model answer as many requests beforehand as they
// need to learn the share.
//
// With --policies lazy:4 and the like a fixed threshold is measured. "large" is the large model alone on the same engine,
// measured once for each number of requests, with the first share.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
)

func main() {
	o, out, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "policies:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	save := func(r *Result) error { return write(out, r) }
	note := func(text string) { fmt.Fprintln(os.Stderr, text) }
	before, err := read(out, o)
	if err == nil {
		err = compare(ctx, o, before, save, note)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "policies:", err)
		os.Exit(1)
	}
}

// parse reads the command line.
func parse(arguments []string) (o Options, out string, err error) {
	f := flag.NewFlagSet("policies", flag.ContinueOnError)
	f.StringVar(&o.Small, "small", "", "GGUF file of the small model")
	f.StringVar(&o.Large, "large", "", "GGUF file of the large model")
	f.StringVar(&o.Device, "device", "cpu", "device of both models: cpu, cuda, cuda:1")
	f.StringVar(&o.Sharing, "sharing", "exclusive", "whether one model steps at a time (exclusive), or both at once (concurrent)")
	f.IntVar(&o.Threads, "threads", 0, "threads of a step; 0: all cores")
	f.IntVar(&o.Tokens, "tokens", 128, "tokens of an answer")
	f.IntVar(&o.Each, "each", 1, "requests that everyone makes, one after the other")
	f.IntVar(&o.Rounds, "rounds", 3, "rounds, beside those that are there already; 0: only the comparisons of those, anew")
	f.StringVar(&o.Prompts, "prompts", "", "JSON lines with a question, problem or prompt; default: texts of 12 to 60 words")
	requests := f.String("requests", "1,4,8,16,32", "numbers of live requests")
	shares := f.String("share", "0.1,0.3", "shares of the positions that the large model writes")
	policies := f.String("policies", strings.Join(defaultPolicies, ","), "policies, lazy:B for a fixed threshold")
	f.StringVar(&out, "out", "", "file to write; default: standard output at the end")
	f.BoolVar(&o.Add, "add", false, "add the cases, and to a case that is there already the rounds, to those of the file")
	if err := f.Parse(arguments); err != nil {
		return o, "", err
	}
	for _, text := range strings.Split(*requests, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return o, "", fmt.Errorf("--requests: %q is no number of requests", text)
		}
		o.Requests = append(o.Requests, n)
	}
	for _, text := range strings.Split(*shares, ",") {
		p, err := strconv.ParseFloat(text, 64)
		if err != nil || !(p > 0 && p < 1) {
			return o, "", fmt.Errorf("--share: %q is no share between 0 and 1", text)
		}
		o.Shares = append(o.Shares, p)
	}
	for _, text := range strings.Split(*policies, ",") {
		p, err := parsePolicy(text)
		if err != nil {
			return o, "", fmt.Errorf("--policies: %w", err)
		}
		o.Policies = append(o.Policies, p)
	}
	switch {
	case o.Small == "" || o.Large == "":
		return o, "", fmt.Errorf("--small and --large: two GGUF files are needed")
	case o.Sharing != "exclusive" && o.Sharing != "concurrent":
		return o, "", fmt.Errorf("--sharing: %q is neither exclusive nor concurrent", o.Sharing)
	case o.Tokens < 8 || o.Each < 1 || o.Rounds < 0 || o.Rounds == 0 && !o.Add:
		return o, "", fmt.Errorf("--tokens %d, --each %d, --rounds %d: want at least 8, 1 and 1 (0 with --add)", o.Tokens, o.Each, o.Rounds)
	}
	return o, out, nil
}

// read is what --add adds to: the cases of the file.
func read(path string, o Options) ([]*Case, error) {
	if !o.Add {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("result to add to: %w", err)
	}
	var r Result
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("result to add to: %s: %w", path, err)
	}
	if was := r.Options; was.Small != o.Small || was.Large != o.Large || was.Tokens != o.Tokens || was.Each != o.Each ||
		was.Prompts != o.Prompts || was.Threads != o.Threads {
		return nil, fmt.Errorf("%s was measured with other models, tokens, threads or prompts: %+v; write to another file", path, was)
	}
	return r.Cases, nil
}

// write writes the result; to standard output only when it is complete.
func write(path string, r *Result) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	text = append(text, '\n')
	if path != "" {
		return os.WriteFile(path, text, 0o644)
	}
	if !r.Complete {
		return nil
	}
	_, err = os.Stdout.Write(text)
	return err
}
