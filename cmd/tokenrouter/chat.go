package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/tokenrouter/tokenrouter/models/chat"
	"github.com/tokenrouter/tokenrouter/router"
	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/api"
	"github.com/tokenrouter/tokenrouter/server/app"
)

// conversation is a `run` of several turns.
type conversation struct {
	cmd     *cobra.Command
	q       *question
	runtime *app.Runtime
	target  *api.Target
	history []chat.Message // without the system message
	aside   io.Writer
}

const chatHelp = `/clear             forget the conversation
/system TEXT       set the system message, and forget the conversation; without TEXT: none
/model NAME        let another route or model answer; without NAME: list them
/threshold NUMBER  how unsure the small model may be and still write; without NUMBER: the route's own
/help              this list
/bye               end, as ctrl-D does
A line that ends in \ goes on in the next. ctrl-C ends an answer that is being written, or clears the line.`

// talk asks for prompts and answers them until the input ends.
func (c *conversation) talk() error {
	lines, restore := newLines(c.cmd.InOrStdin(), c.cmd.OutOrStdout())
	defer restore()
	ctx, interrupts := c.cmd.Context(), make(chan os.Signal, 1)
	if _, typed := lines.(*editor); typed { // a signal ends an answer; else it ends the command, as everywhere
		ctx = context.WithoutCancel(ctx)
		signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
		defer signal.Stop(interrupts)
	}
	if isTerminal(c.aside) {
		say(c.aside, c.target.Name+" answers. /help lists commands, ctrl-D ends.")
		showLegend(c.cmd, c.target, c.q.noColour)
	}
	for {
		prompt, err := readTurn(ctx, lines)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case ctx.Err() != nil:
			return errInterrupted
		case err != nil:
			return fmt.Errorf("read the prompt: %w", err)
		case strings.TrimSpace(prompt) == "":
			continue
		}
		if strings.HasPrefix(prompt, "/") {
			end, err := c.command(prompt)
			if err != nil {
				say(c.aside, err.Error())
			}
			if end {
				return nil
			}
			continue
		}
		if err := c.answer(ctx, prompt, interrupts); err != nil {
			return err
		}
	}
}

// readTurn reads a prompt: a line, or several that end in a backslash.
func readTurn(ctx context.Context, lines lineReader) (string, error) {
	var all []string
	for {
		line, err := lines.ReadLine(ctx)
		if err != nil {
			return "", err
		}
		more, goesOn := strings.CutSuffix(line, `\`)
		all = append(all, more)
		if !goesOn {
			return strings.Join(all, "\n"), nil
		}
	}
}

// answer lets the models answer a turn. What cannot be answered is said, and forgotten; an error ends the conversation.
func (c *conversation) answer(ctx context.Context, prompt string, interrupts <-chan os.Signal) error {
	turn := append(slices.Clone(c.history), chat.User(prompt))
	request, err := c.q.request(c.cmd, c.target, turn)
	if err != nil {
		say(c.aside, err.Error())
		return nil
	}
	select {
	case <-interrupts: // it came too late for the last answer
	default:
	}
	stream, err := c.runtime.Engine.Submit(ctx, request)
	if errors.Is(err, sched.ErrTooLong) {
		say(c.aside, err.Error()+"; /clear forgets the conversation")
		return nil
	}
	if err != nil {
		say(c.aside, err.Error())
		return nil
	}
	ended, watched := make(chan struct{}), make(chan os.Signal, 1)
	go func() {
		defer close(watched)
		select {
		case s := <-interrupts:
			stream.Cancel()
			watched <- s
		case <-ended:
		}
	}()
	a, err := show(c.cmd, c.target, stream, c.q.noColour)
	close(ended)
	if s, ok := <-watched; ok && s == syscall.SIGTERM || ctx.Err() != nil {
		return errInterrupted
	}
	if err != nil {
		return err
	}
	if a.text != "" {
		c.history = append(turn, chat.Assistant(a.text))
	}
	return nil
}

// command does what a line that begins with a slash says; true: end.
func (c *conversation) command(line string) (end bool, err error) {
	name, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch name {
	case "/bye", "/exit", "/quit":
		return true, nil
	case "/help", "/?":
		say(c.aside, chatHelp)
	case "/clear":
		c.history = nil
		say(c.aside, "the conversation is forgotten")
	case "/system":
		c.q.system, c.history = rest, nil
		say(c.aside, "the conversation begins anew with that system message")
	case "/model":
		return false, c.model(rest)
	case "/threshold":
		return false, c.threshold(rest)
	default:
		return false, fmt.Errorf("there is no command %s; /help lists them", name)
	}
	return false, nil
}

func (c *conversation) model(name string) error {
	if name == "" {
		for i := range c.runtime.Targets {
			t := &c.runtime.Targets[i]
			mark := "  "
			if t.Name == c.target.Name {
				mark = "* "
			}
			say(c.aside, mark+t.Name+map[bool]string{true: ": " + strings.Join(t.Models, ", ")}[len(t.Models) > 1])
		}
		return nil
	}
	old := c.q.model
	c.q.model = name
	t, err := c.q.target(c.runtime.Targets)
	if err != nil {
		c.q.model = old
		return fmt.Errorf("/model: %w", err)
	}
	said := name + " answers from now on"
	if c.q.thresholdSet && c.q.algorithm == "" && t.Algorithm != c.target.Algorithm { // a number means something else to another algorithm
		c.q.thresholdSet = false
		said += ", with its own threshold"
	}
	c.target = t
	showLegend(c.cmd, t, c.q.noColour)
	say(c.aside, said)
	return nil
}

func (c *conversation) threshold(text string) error {
	if text == "" {
		c.q.thresholdSet = false
		say(c.aside, "the route's own threshold holds")
		return nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return fmt.Errorf("/threshold: %q is not a number", text)
	}
	name := cmp.Or(c.q.algorithm, c.target.Algorithm)
	params := c.q.params
	if name == c.target.Algorithm {
		params = c.target.Params.Override(params)
	}
	params.Threshold = &v
	algorithm, err := router.Lookup(name)
	if err == nil {
		err = router.Check(algorithm, len(c.target.Models), params)
	}
	if err != nil {
		return fmt.Errorf("/threshold: %w", err)
	}
	c.q.threshold, c.q.thresholdSet = v, true
	say(c.aside, "the threshold is "+text+" from now on")
	return nil
}
