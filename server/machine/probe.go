package machine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/tokenrouter/tokenrouter/sched"
)

// ProbeCommand is the command, with one argument, by which a program that calls [Prober.Probe] hands that argument to [ProbeChild].
const ProbeCommand = "probe-device"

// probeTimeout is how long a device may take to open: where no driver is kept loaded, several GPUs take half a minute.
const probeTimeout = time.Minute

// Prober opens devices in a process of its own, so that a driver which crashes or hangs takes nothing with it. The zero value runs this
// program once more.
type Prober struct {
	Executable string        // "": this program's
	Timeout    time.Duration // 0: a minute
}

// Probe says what a device is, or why it cannot be used. It returns in time whatever the driver does.
func (p Prober) Probe(ctx context.Context, o sched.NativeOptions) sched.NativeProbe {
	failed := func(fault sched.Fault, format string, args ...any) sched.NativeProbe {
		return sched.NativeProbe{Kind: o.Kind, GPUs: []string{}, Fault: fault, Reason: fmt.Sprintf(format, args...)}
	}
	executable, err := p.Executable, error(nil)
	if executable == "" {
		if executable, err = os.Executable(); err != nil {
			return failed(sched.FaultProbe, "probing %s: %v", o.Kind, err)
		}
	}
	argument, err := json.Marshal(o)
	if err != nil {
		return failed(sched.FaultProbe, "probing %s: %v", o.Kind, err)
	}
	timeout := cmp.Or(p.Timeout, probeTimeout)
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errHangs)
	defer cancel()
	cmd := exec.CommandContext(ctx, executable, ProbeCommand, string(argument))
	out, aside := &tail{}, &tail{}
	cmd.Stdout, cmd.Stderr = out, aside
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		err = cmp.Or(context.Cause(ctx), err)
		return failed(sched.FaultProbe, "probing %s: %v", o.Kind, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		select {
		case err = <-ended:
		case <-time.After(3 * time.Second): // a process within a driver's call may not even be killed
			err = context.Cause(ctx)
		}
	}
	switch {
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), errHangs):
		return failed(sched.FaultTimeout, "opening %s took longer than %s: the driver hangs (nvidia-smi or the kernel's log may say why); the process that tried was ended", o.Kind, timeout)
	case ctx.Err() != nil:
		return failed(sched.FaultProbe, "probing %s: %v", o.Kind, context.Cause(ctx))
	case err != nil:
		return failed(sched.FaultCrash, "opening %s crashed the process that tried it (%v): %s", o.Kind, err, aside.reason())
	}
	var found sched.NativeProbe
	if err := json.Unmarshal(out.last(), &found); err != nil {
		return failed(sched.FaultCrash, "the process that opened %s ended without an answer: %s", o.Kind, aside.reason())
	}
	return found
}

var errHangs = errors.New("the probe does not end")

// ProbeChild opens the device that the argument of [ProbeCommand] asks for and writes what it is, as JSON, in one line.
func ProbeChild(argument string, out io.Writer) error {
	var o sched.NativeOptions
	if err := json.Unmarshal([]byte(argument), &o); err != nil {
		return fmt.Errorf("%s: expected the options of a device as JSON: %w", ProbeCommand, err)
	}
	// Whoever started this may be gone before it is through.
	guard := time.AfterFunc(2*probeTimeout, func() { os.Exit(1) })
	defer guard.Stop()
	text, err := json.Marshal(sched.ProbeNative(o))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n", text)
	return err
}

// tail keeps the beginning and the end of what is written to it.
type tail struct{ head, end []byte }

const tailBytes = 32 << 10

func (t *tail) Write(p []byte) (int, error) {
	if room := tailBytes - len(t.head); room > 0 {
		t.head = append(t.head, p[:min(room, len(p))]...)
	}
	t.end = append(t.end, p...)
	if len(t.end) > tailBytes {
		t.end = append(t.end[:0], t.end[len(t.end)-tailBytes:]...)
	}
	return len(p), nil
}

// last is the last line: what else a driver writes comes before.
func (t *tail) last() []byte {
	lines := bytes.Split(bytes.TrimSpace(t.end), []byte("\n"))
	return lines[len(lines)-1]
}

// reason is the line that says most of why a process ended.
func (t *tail) reason() string {
	first := ""
	for line := range strings.Lines(string(t.head)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[signal ") || strings.HasPrefix(line, "SIG") {
			return strings.Trim(line, "[]")
		}
		first = cmp.Or(first, line)
	}
	return cmp.Or(first, "it said nothing")
}
