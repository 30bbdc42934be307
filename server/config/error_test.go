package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each text has one mistake; the wanted error is the whole message with line and column counted by hand (from 1; the
// texts begin with a line break, so their first line is 2).
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "f.yaml: is empty; it needs at least `models`"},
		{"only a comment", "# nothing\n", "f.yaml: is empty; it needs at least `models`"},
		{"not a mapping", "\n- a\n", "f.yaml:2:1: expected object, found array"},
		{"no models", "\nserver: {listen: ':1'}\n", "f.yaml:2:1: models: missing; it is required"},
		{"models empty", "\nmodels: []\n", "f.yaml:2:9: models: 0 given; at least 1 needed"},
		{"models null", "\nmodels:\n", "models: missing; it is required"},
		{"unknown at the top", twoModels + "rotues: []\n", "f.yaml:5:1: rotues: unknown key; did you mean routes?"},
		{"unknown in a model", "\nmodels:\n  - name: a\n    pth: x\n    path: y\n", "f.yaml:4:5: models[0].pth: unknown key; did you mean path?"},
		{"unknown and unlike all", twoModels + "server:\n  xyz: 1\n", "f.yaml:6:3: server.xyz: unknown key; known here: api_key_file, api_keys, cors_origins, idle_unload, listen, log_format, log_level, max_body, request_timeout, shutdown_timeout, tls"},
		{"no path", "\nmodels:\n  - name: a\n", "f.yaml:3:5: models[0].path: missing; it is required"},
		{"path empty", "\nmodels:\n  - {name: a, path: ''}\n", "f.yaml:3:21: models[0].path: is empty"},
		{"key too short", twoModels + "server: {api_keys: [seven77]}\n", "f.yaml:5:21: server.api_keys[0]: has 7 characters; at least 8 needed"},
		{"key empty", twoModels + "server: {api_keys: ['']}\n", "f.yaml:5:21: server.api_keys[0]: is empty"},
		{"name a number", "\nmodels:\n  - {name: 5, path: x}\n", "f.yaml:3:12: models[0].name: expected string, found number"},
		{"name with a space", "\nmodels:\n  - {name: a b, path: x}\n", `f.yaml:3:12: models[0].name: "a b" is not a name: 1 to 128 letters, digits and . _ : / -, the first a letter or digit`},
		{"context too small", "\nmodels:\n  - {name: a, path: x, context: 8}\n", "f.yaml:3:33: models[0].context: 8 is too small; the least is 16"},
		{"context a text", "\nmodels:\n  - {name: a, path: x, context: long}\n", "f.yaml:3:33: models[0].context: expected integer, found string"},
		{"two models of a name", "\nmodels:\n  - {name: a, path: x}\n  - {name: a, path: y}\n", "f.yaml:4:12: models[1].name: a is the name of models[0] already; names of models and routes must differ"},
		{"route named as a model", twoModels + "routes:\n  - {name: small, algorithm: r-stitch, models: [small, large]}\n", "f.yaml:6:12: routes[0].name: small is the name of models[0] already; names of models and routes must differ"},
		{"route without algorithm", twoModels + "routes:\n  - {name: r, models: [small, large]}\n", "f.yaml:6:5: routes[0].algorithm: missing; it is required"},
		{"route of one", twoModels + "routes:\n  - {name: r, algorithm: r-stitch, models: [small]}\n", "f.yaml:6:44: routes[0].models: 1 given; at least 2 needed"},
		{"route names a model twice", twoModels + "routes:\n  - {name: r, algorithm: r-stitch, models: [small, small]}\n", "f.yaml:6:44: routes[0].models: entries 1 and 2 are the same"},
		{"route to nowhere", twoModels + "routes:\n  - {name: r, algorithm: r-stitch, models: [small, lage]}\n", "f.yaml:6:52: routes[0].models[1]: no model is called lage; did you mean large?"},
		{"threshold a text", twoModels + "routes:\n  - {name: r, algorithm: r-stitch, models: [small, large], threshold: high}\n", "f.yaml:6:71: routes[0].threshold: expected number, found string"},
		{"threshold infinite", twoModels + "routes:\n  - {name: r, algorithm: r-stitch, models: [small, large], threshold: .inf}\n", "f.yaml:6:71: routes[0].threshold: .inf is not a number that can be used here"},
		{"unknown device", "\nmodels:\n  - {name: a, path: x, device: cpv}\n", "f.yaml:3:32: models[0].device: no device is called cpv; did you mean cpu?"},
		{"two devices of a name", twoModels + "devices:\n  - name: cpu\n  - name: cpu\n", "f.yaml:7:11: devices[1].name: a second device called cpu"},
		{"unknown kind", twoModels + "devices: [{name: g, kind: gpu}]\n", `f.yaml:5:27: devices[0].kind: "gpu" is not cpu, cuda, or cuda:1 and the like`},
		{"auto on the processor", twoModels + "devices: [{name: cpu, kv_memory: auto}]\n", `f.yaml:5:34: devices[0].kv_memory: auto is for GPUs; give a size`},
		{"one GPU twice", twoModels + "devices: [{name: g, kind: cuda}, {name: 'cuda:0'}]\n", `devices[1].kind: g and cuda:0 are the same GPU`},
		{"a name that is another kind", twoModels + "devices: [{name: cuda, kind: cpu}]\n", `f.yaml:5:18: devices[0].name: cuda is a device of that kind, and this one is of the kind cpu`},
		{"unknown isa", twoModels + "devices: [{name: g, isa: sse}]\n", `f.yaml:5:26: devices[0].isa: "sse" is not one of "", reference, avx2, avxvnni, avx512vnni`},
		{"unknown KV type", "models: [{name: a, path: a, kv_type: q4_0}]\n", `f.yaml:1:38: models[0].kv_type: "q4_0" is not one of f16, q8_0`},
		{"size without unit", twoModels + "devices: [{name: g, kv_memory: '12'}]\n", `f.yaml:5:32: devices[0].kv_memory: size "12" is not a number with a unit, such as 512MiB`},
		{"size a number", twoModels + "devices: [{name: g, kv_memory: 12}]\n", "f.yaml:5:32: devices[0].kv_memory: expected string, found number"},
		{"size too large", twoModels + "devices: [{name: g, kv_memory: 99999999999GiB}]\n", `f.yaml:5:32: devices[0].kv_memory: size "99999999999GiB" is too large`},
		{"size zero", twoModels + "devices: [{name: g, kv_memory: 0B}]\n", "f.yaml:5:32: devices[0].kv_memory: the KV caches need memory; 0 was given"},
		{"unknown policy", twoModels + "batching: {policy: lasy}\n", `f.yaml:5:20: batching.policy: "lasy" is not one of lazy, eager, step-sync, model-sync; did you mean lazy?`},
		{"threshold of no model", twoModels + "batching: {policy: lazy, threshold: {lrage: 2}}\n", "f.yaml:5:45: batching.threshold.lrage: no model is called lrage; did you mean large?"},
		{"threshold with eager", twoModels + "batching: {policy: eager, threshold: {large: 2}}\n", "f.yaml:5:38: batching.threshold: thresholds are for policy lazy; the policy is eager"},
		{"threshold zero", twoModels + "batching: {policy: lazy, threshold: {large: 0}}\n", "f.yaml:5:45: batching.threshold.large: 0 is too small; the least is 1"},
		{"timeout as a number", twoModels + "server: {request_timeout: 10}\n", `f.yaml:5:27: server.request_timeout: expected string, found number; write a duration with its unit, such as "10s"`},
		{"timeout as a fraction", twoModels + "server: {request_timeout: -1.5}\n", `expected string, found number; write a duration with its unit, such as "10s"`},
		{"body limit as a number", twoModels + "server: {max_body: 10}\n", "server.max_body: expected string, found number; write a size with its unit, such as 512MiB"},
		{"path as a number", "models: [{name: a, path: 10}]\n", "models[0].path: expected string, found number"},
		{"wait without unit", twoModels + "batching: {max_wait: '50'}\n", `f.yaml:5:22: batching.max_wait: duration "50" is not a number with a unit`},
		{"wait in hours", twoModels + "batching: {max_wait: 2h}\n", `f.yaml:5:22: batching.max_wait: "2h" is not auto or a duration such as 50ms or 30s`},
		{"wait too long", twoModels + "batching: {max_wait: 99999999999999999s}\n", "f.yaml:5:22: batching.max_wait: duration"},
		{"chunk too large", twoModels + "batching: {prefill_chunk: 5000}\n", "f.yaml:5:27: batching.prefill_chunk: 5000 is too large; the most is 4096"},
		{"more live than memory is for", twoModels + "batching: {max_live: 100000000}\n", "f.yaml:5:22: batching.max_live: 100000000 is too large; the most is 65536"},
		{"queue larger than memory", twoModels + "batching: {max_queue: 1000000000000}\n", "f.yaml:5:23: batching.max_queue: 1000000000000 is too large; the most is 1048576"},
		{"threads", twoModels + "devices: [{name: cpu, threads: 1025}]\n", "devices[0].threads: 1025 is too large; the most is 1024"},
		{"batch a fraction", twoModels + "batching: {max_batch: 1.5}\n", "f.yaml:5:23: batching.max_batch: expected integer, found number"},
		{"listen without port", twoModels + "server: {listen: localhost}\n", `f.yaml:5:18: server.listen: "localhost" is not an address and port such as 127.0.0.1:8080 or :8080`},
		{"listen port too large", twoModels + "server: {listen: ':70000'}\n", `f.yaml:5:18: server.listen: ":70000" is not an address and port`},
		{"body zero", twoModels + "server: {max_body: 0B}\n", "f.yaml:5:20: server.max_body: 0 would refuse every request"},
		{"timeout zero", twoModels + "server: {request_timeout: 0s}\n", "f.yaml:5:27: server.request_timeout: 0 would refuse every request"},
		{"level", twoModels + "server: {log_level: warning}\n", `f.yaml:5:21: server.log_level: "warning" is not one of debug, info, warn, error`},
		{"a key twice", "\nmodels:\n  - {name: a, path: x}\nmodels: []\n", "f.yaml:4:1: not valid YAML: "},
		{"not YAML", "\nmodels: [\n", "f.yaml:2:9: not valid YAML: "},
		{"tab", "\nmodels:\n\t- a\n", "not valid YAML: "},
		{"two documents", "models: [{name: a, path: x}]\n---\nmodels: []\n", "f.yaml:3:1: a second YAML document; a configuration is one"},
		{"alias of nothing", "\nmodels: *m\n", "f.yaml:2:9: models: no anchor &m before the alias *m"},
		{"alias of itself", "\nmodels: &m [*m]\n", "f.yaml:2:13: models[0]: no anchor &m before the alias *m"},
		{"tag", "\nmodels: !!set {a}\n", "models: YAML tags are not supported here"},
		{"key a number", "\n1: 2\n", "f.yaml:2:1: key 1 is not a plain text"},
		{"merge of a text", "\nmodels:\n  - {<<: a, name: b, path: x}\n", "f.yaml:3:10: models[0]: what << merges is not a mapping"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("f.yaml", []byte(c.text))
			require.ErrorContains(t, err, c.want)
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Len(t, e.Problems, 1, "one mistake, one problem: %v", err)
		})
	}
}

func TestAllMistakesAtOnceInFileOrder(t *testing.T) {
	_, err := Parse("f.yaml", []byte("\nserver: {log_level: loud}\nmodels:\n  - nam: a\n"))
	require.EqualError(t, err, strings.Join([]string{
		`f.yaml:2:21: server.log_level: "loud" is not one of debug, info, warn, error`,
		"f.yaml:4:5: models[0].name: missing; it is required",
		"f.yaml:4:5: models[0].path: missing; it is required",
		"f.yaml:4:5: models[0].nam: unknown key; did you mean name?",
	}, "\n"))
}

func TestErrorWithoutFile(t *testing.T) {
	_, err := Parse("", []byte("models: [{name: a}]"))
	require.EqualError(t, err, "1:10: models[0].path: missing; it is required")
}

func TestAt(t *testing.T) {
	c, err := Parse("f.yaml", []byte("\nmodels:\n  - name: a\n    path: x.gguf\n"))
	require.NoError(t, err)
	cause := errors.New("no such file")
	err = c.At("models[0].path", cause)
	require.EqualError(t, err, "f.yaml:4:11: models[0].path: no such file")
	require.ErrorIs(t, err, cause)
	// A default stands nowhere: the nearest thing around it is named.
	require.EqualError(t, c.At("models[0].device", cause), "f.yaml:3:5: models[0].device: no such file")

	p, err := Pair("a.gguf", "b.gguf")
	require.NoError(t, err)
	require.EqualError(t, p.At("models[0].path", cause), "models[0].path: no such file")
}

func TestAliasesCannotBlowUp(t *testing.T) {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 10; i++ { // 10^10 values if it were followed
		d, p := string(rune('0'+i)), string(rune('0'+i-1))
		b.WriteString("a" + d + ": &a" + d + " [" + strings.Repeat("*a"+p+", ", 9) + "*a" + p + "]\n")
	}
	_, err := Parse("f.yaml", []byte(b.String()))
	require.ErrorContains(t, err, "more than 100000 values")
}
