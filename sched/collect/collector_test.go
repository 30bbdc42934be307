package collect

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tokenrouter/tokenrouter/models"
	"github.com/tokenrouter/tokenrouter/models/catalogue"
	"github.com/tokenrouter/tokenrouter/sched"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func load(t *testing.T, device *sched.NativeDevice, name string) Model {
	t.Helper()
	path, err := catalogue.CarriedFile(name)
	require.NoError(t, err)
	text, err := models.Open(path)
	require.NoError(t, err)
	native, err := device.LoadModel(path, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, native.Close()) })
	return Model{Text: text, Native: native}
}

// However many prompts are in work at a time, and in whatever order they are given, the files are the same.
func TestTheFilesAreTheSameHoweverManyAreMadeAtATime(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	device, err := sched.OpenNativeDevice(sched.NativeOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, device.Close()) })
	small, large := load(t, device, catalogue.DemoSmall), load(t, device, catalogue.DemoLarge)
	var prompts []Prompt
	for i := range 6 {
		p, err := ParsePrompt(fmt.Appendf(nil, `{"prompt": "Sam has %d apples and buys %d more. How many apples does Sam have?", "answer": "%d"}`, 10+i, 7*i+3, 8*i+13))
		require.NoError(t, err)
		prompts = append(prompts, p)
	}
	for _, rollouts := range []string{RolloutSmall, RolloutLarge} {
		var files [2][][]byte
		for k, live := range []int{1, 4} {
			c, err := New(small, large, Options{Top: 5, MaxTokens: 60, Rollouts: rollouts, Live: live})
			require.NoError(t, err)
			dir := t.TempDir()
			errs := make([]error, len(prompts))
			var all sync.WaitGroup
			for i, p := range prompts {
				write := func() { errs[i] = c.Write(t.Context(), filepath.Join(dir, fmt.Sprint(i)), p) }
				if live == 1 {
					write()
				} else {
					all.Go(write)
				}
			}
			all.Wait()
			require.NoError(t, c.Close())
			for i := range prompts {
				require.NoError(t, errs[i])
				file, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(i)))
				require.NoError(t, err)
				files[k] = append(files[k], file)
			}
		}
		require.Equal(t, files[0], files[1], rollouts)
		require.NotEqual(t, files[0][0], files[0][1])
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	device, err := sched.OpenNativeDevice(sched.NativeOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, device.Close()) })
	m := load(t, device, catalogue.DemoSmall)
	good := Options{Top: 5, MaxTokens: 60, Rollouts: RolloutNone, Live: 1}
	for want, change := range map[string]func(*Options){
		"top logits: expected 1 to 128, found 0":             func(o *Options) { o.Top = 0 },
		"tokens of an answer: expected 1 or more, found 0":   func(o *Options) { o.MaxTokens = 0 },
		`rollouts are "both", expected none, small or large`: func(o *Options) { o.Rollouts = "both" },
		"answers at a time: expected 1 or more, found 0":     func(o *Options) { o.Live = 0 },
	} {
		o := good
		change(&o)
		_, err := New(m, m, o)
		require.EqualError(t, err, want)
	}
}
