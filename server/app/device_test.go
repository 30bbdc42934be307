package app

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/sched"
	"github.com/tokenrouter/tokenrouter/server/config"
)

func TestSharingOfDevices(t *testing.T) {
	cfg, err := config.Parse("", []byte("models: [{name: a, path: a.gguf}]\ndevices: [{name: gpu, sharing: concurrent}]\n"))
	require.NoError(t, err)
	var devices []*device
	for _, c := range cfg.Devices {
		devices = append(devices, &device{Device: c})
	}
	require.Equal(t, []sched.DeviceOptions{{Name: "gpu", Concurrent: true}, {Name: "cpu"}}, sharing(devices))
}
