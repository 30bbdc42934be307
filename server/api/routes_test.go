package api

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRoutes(t *testing.T) {
	r, body := newSite(t, brief(), nil).get(t, "/v1/routes")
	require.Equal(t, 200, r.StatusCode)
	require.JSONEq(t, `{"object":"list","policy":"lazy","live":2,"queue":1,
		"data":[{"id":"pair","object":"route","context_length":1024,"algorithm":"r-stitch","models":["small","large"],"threshold":0.5,"default_threshold":0.5}],
		"models":[
			{"id":"small","object":"model_state","live":2,"waiting":0,"running":1,"pending":1,
				"batch":{"threshold":1,"planned":1,"max_wait_ms":0,"last":1,"steps":10,"requests":15},
				"kv":{"capacity":2048,"used":512,"cached":512,"usage":0.25},
				"latency":{"base_ms":1,"per_request_ms":2,"per_token_ms":3},
				"routing":{"small":0.75,"org/large":0.25},"tokens":12,"share":0.75},
			{"id":"org/large","object":"model_state","live":1,"waiting":1,"running":0,"pending":0,
				"batch":{"threshold":2,"planned":3,"max_wait_ms":5,"last":0,"steps":0,"requests":0},
				"kv":{"capacity":2048,"used":0,"cached":0,"usage":0},
				"latency":null,"routing":{},"tokens":0,"share":0}],
		"devices":[{"id":"gpu","object":"device_state","sharing":"concurrent","models":["small","org/large"]}]}`, body)
}

// Where the route gives no threshold, that of its algorithm holds.
func TestDefaultThreshold(t *testing.T) {
	two := []string{"s", "l"}
	for algorithm, want := range map[string]float64{"r-stitch": 0.03, "citer": 0.98, "query": 0.03} {
		got := (&Target{Algorithm: algorithm, Models: two}).threshold()
		require.NotNil(t, got, algorithm)
		require.Equal(t, want, *got, algorithm)
	}
	for _, algorithm := range []string{"random", "ensemble", "nobody"} {
		require.Nil(t, (&Target{Algorithm: algorithm, Models: two}).threshold(), algorithm)
	}
}
