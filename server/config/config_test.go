package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const twoModels = `
models:
  - {name: small, path: s.gguf}
  - {name: large, path: l.gguf}
`

func TestDefaults(t *testing.T) {
	c, err := Parse("", []byte(Example))
	require.NoError(t, err)
	// The values are those of schema.json.
	require.Equal(t, []Model{
		{Name: "small", Path: "small.gguf", Device: "cpu", KVType: "f16"},
		{Name: "large", Path: "large.gguf", Device: "cpu", KVType: "f16"},
	}, c.Models)
	require.Equal(t, []Route{{Name: "routed", Algorithm: "r-stitch", Models: []string{"small", "large"}, OnPeerFailure: "error"}}, c.Routes)
	require.Equal(t, []Device{{Name: "cpu", Kind: "cpu", Sharing: Exclusive, KVMemory: 1 << 30}}, c.Devices)
	require.Equal(t, Batching{
		Policy: "lazy", Order: "large-first", Threshold: Thresholds{}, MaxWait: Auto, PrefixCache: true, Ahead: true,
		PrefillChunk: 256, MaxBatch: 64, MaxLive: 64, MaxQueue: 256,
	}, c.Batching)
	require.Equal(t, Server{
		Listen: "127.0.0.1:8080", LogLevel: "info", LogFormat: "auto", MaxBody: 16 << 20,
		RequestTimeout: Duration(time.Hour), ShutdownTimeout: Duration(30 * time.Second), APIKeys: []string{}, CORSOrigins: []string{},
	}, c.Server)
}

func TestEveryKey(t *testing.T) {
	c, err := Parse("/etc/tr/c.yaml", []byte(`
models:
  - name: org/small:q4
    path: models/s.gguf
    device: socket0
    context: 4096
    exact_float: true
    kv_type: q8_0
    chat_template: chat.jinja
  - {name: large, path: /data/l.gguf}
routes:
  - name: pair
    algorithm: r-stitch
    models: [org/small:q4, large]
    threshold: 0.03
    head: heads/r.gguf
    on_peer_failure: continue
devices:
  - {name: socket0, kind: cpu, sharing: concurrent, threads: 2, isa: avx2, kv_memory: 1.5 GB}
batching:
  policy: lazy
  threshold: {large: 4}
  max_wait: 1.5ms
  ahead: false
  prefill_chunk: 16
  max_batch: 8
  max_live: 9
  max_queue: 0
server:
  listen: :0
  log_level: debug
  log_format: json
  max_body: 10KiB
  request_timeout: 90s
  shutdown_timeout: 0s
  api_keys: [a-long-secret]
  api_key_file: keys
  cors_origins: ["https://app.example.org"]
  tls: {cert: cert.pem, key: /etc/ssl/key.pem}
  idle_unload: 20m
`))
	require.NoError(t, err)
	threshold := 0.03
	c.source = source{}
	require.Equal(t, &Config{
		Models: []Model{
			{"org/small:q4", "/etc/tr/models/s.gguf", "socket0", 4096, true, "q8_0", "/etc/tr/chat.jinja"},
			{"large", "/data/l.gguf", "cpu", 0, false, "f16", ""},
		},
		Routes: []Route{{"pair", "r-stitch", []string{"org/small:q4", "large"}, &threshold, nil, nil, "", nil, "/etc/tr/heads/r.gguf", "continue"}},
		Devices: []Device{
			{"socket0", "cpu", "concurrent", 2, "avx2", 1_500_000_000},
			{"cpu", "cpu", "exclusive", 0, "", 1 << 30},
		},
		Batching: Batching{"lazy", "large-first", Thresholds{"large": 4}, Wait(1500 * time.Microsecond), true, false, 16, 8, 9, 0},
		Server: Server{
			":0", "debug", "json", 10 << 10, Duration(90 * time.Second), 0, []string{"a-long-secret"}, "/etc/tr/keys",
			[]string{"https://app.example.org"}, &TLS{"/etc/tr/cert.pem", "/etc/ssl/key.pem"}, Duration(20 * time.Minute),
		},
	}, c)
}

func TestEmptySectionsAreDefaults(t *testing.T) {
	c, err := Parse("", []byte(twoModels+"routes:\nserver:\nbatching: {}\ndevices: []\n"))
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:8080", c.Server.Listen)
	require.Equal(t, "lazy", c.Batching.Policy)
	require.Len(t, c.Devices, 1)
	require.Empty(t, c.Routes)
}

// A device whose name is its kind needs no entry. What it gets by default depends on the kind.
func TestGPUs(t *testing.T) {
	c, err := Parse("", []byte(`
models:
  - {name: a, path: a.gguf}
  - {name: b, path: b.gguf, device: cuda}
  - {name: c, path: c.gguf, device: "cuda:1"}
  - {name: d, path: d.gguf, device: big}
devices: [{name: big, kind: "cuda:2", sharing: concurrent, kv_memory: 3GiB}, {name: "cuda:1", threads: 2}]`))
	require.NoError(t, err)
	require.Equal(t, []Device{
		{"big", "cuda:2", Concurrent, 0, "", 3 << 30}, {"cuda:1", "cuda:1", Exclusive, 2, "", Auto},
		{"cpu", "cpu", Exclusive, 0, "", 1 << 30}, {"cuda", "cuda", Exclusive, 0, "", Auto},
	}, c.Devices)
	for i, want := range []int{2, 1, 0, 0} {
		number, gpu := c.Devices[i].GPU()
		require.Equal(t, want, number)
		require.Equal(t, i != 2, gpu)
	}

	c, err = Parse("", []byte(twoModels))
	require.NoError(t, err)
	require.ErrorContains(t, c.Move("graphics"), `no device is called "graphics"; cpu, cuda, cuda:1 and the like are there without a configuration`)
	require.NoError(t, c.Move("cuda:1"))
	require.Equal(t, "cuda:1", c.Models[0].Device)
	require.Len(t, c.Devices, 2)
}

func TestAliasesAndMergeKeys(t *testing.T) {
	c, err := Parse("", []byte(`
models:
  - &base {name: a, path: a.gguf, context: 64}
  - {<<: *base, name: b}
  - {name: c, path: &p p.gguf}
  - {name: d, path: *p}
`))
	require.NoError(t, err)
	require.Equal(t, Model{Name: "b", Path: "a.gguf", Device: "cpu", Context: 64, KVType: "f16"}, c.Models[1])
	require.Equal(t, "p.gguf", c.Models[3].Path)
}

func TestDefaultsAreNotShared(t *testing.T) {
	a, err := Parse("", []byte(Example))
	require.NoError(t, err)
	a.Batching.Threshold["small"] = 7
	a.Devices[0].Threads = 7
	b, err := Parse("", []byte(Example))
	require.NoError(t, err)
	require.Empty(t, b.Batching.Threshold)
	require.Zero(t, b.Devices[0].Threads)
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "c.yaml")
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte("models:\n- {name: a, path: sub/a.gguf, chat_template: sub/a.jinja}\n- {name: b, path: ~/b.gguf}\n"), 0o600))
	c, err := Load(file)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "sub/a.gguf"), c.Models[0].Path)
	require.Equal(t, filepath.Join(home, "b.gguf"), c.Models[1].Path)
	require.Equal(t, filepath.Join(dir, "sub/a.jinja"), c.Models[0].ChatTemplate)
	require.Empty(t, c.Models[1].ChatTemplate)

	_, err = Load(filepath.Join(dir, "none.yaml"))
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "none.yaml")
}

func TestFind(t *testing.T) {
	work, xdg := t.TempDir(), t.TempDir()
	t.Chdir(work)
	t.Setenv("XDG_CONFIG_HOME", xdg)
	_, err := Find()
	require.ErrorContains(t, err, "tokenrouter.yaml and "+filepath.Join(xdg, "tokenrouter", "config.yaml"))
	require.ErrorContains(t, err, Example)

	user := filepath.Join(xdg, "tokenrouter", "config.yaml")
	require.NoError(t, os.Mkdir(filepath.Dir(user), 0o700))
	require.NoError(t, os.WriteFile(user, []byte(Example), 0o600))
	found, err := Find()
	require.NoError(t, err)
	require.Equal(t, user, found)

	require.NoError(t, os.WriteFile("tokenrouter.yaml", []byte(Example), 0o600))
	found, err = Find()
	require.NoError(t, err)
	require.Equal(t, "tokenrouter.yaml", found)
}

func TestDemo(t *testing.T) {
	got, err := Demo()
	require.NoError(t, err)
	require.Equal(t, []Model{
		{Name: "demo-small", Path: "catalogue:demo-small", Device: "cpu", KVType: "f16"},
		{Name: "demo-large", Path: "catalogue:demo-large", Device: "cpu", KVType: "f16"},
	}, got.Models)
	threshold := 0.025
	pair := []string{"demo-small", "demo-large"}
	require.Equal(t, []Route{
		{Name: "demo", Algorithm: "r-stitch", Models: pair, Threshold: &threshold, OnPeerFailure: "error"},
		{Name: "demo-citer", Algorithm: "citer", Models: pair, Head: "catalogue:demo-citer", OnPeerFailure: "error"},
		{Name: "demo-co-llm", Algorithm: "co-llm", Models: pair, Head: "catalogue:demo-co-llm", OnPeerFailure: "error"},
		{Name: "demo-r2r", Algorithm: "r2r", Models: pair, Head: "catalogue:demo-r2r", OnPeerFailure: "error"},
	}, got.Routes)
}

func TestNamesOfTheCatalogueAreNoFiles(t *testing.T) {
	c, err := Parse("/etc/tr/c.yaml", []byte(`
models: [{name: a, path: 'catalogue:demo-small'}, {name: b, path: 'catalogue.gguf'}]
routes: [{name: r, algorithm: r2r, models: [a, b], head: 'catalogue:demo-r2r'}, {name: s, algorithm: r2r, models: [a, b], head: r2r.gguf}]`))
	require.NoError(t, err)
	require.Equal(t, "catalogue:demo-r2r", c.Routes[0].Head)
	require.Equal(t, "/etc/tr/r2r.gguf", c.Routes[1].Head)
	require.Equal(t, "catalogue:demo-small", c.Models[0].Path)
	require.Equal(t, "/etc/tr/catalogue.gguf", c.Models[1].Path)
}

func TestPair(t *testing.T) {
	for _, c := range []struct{ small, large, wantSmall, wantLarge string }{
		{"models/qwen-0.5b.gguf", "/m/qwen-1.5b.gguf", "qwen-0.5b", "qwen-1.5b"},
		{"a/model.gguf", "b/model.gguf", "small", "large"}, // the same name twice
		{"mein modell ä.gguf", "..gguf", "mein-modell-", "large"},
		{"routed.gguf", "x.gguf", "small", "large"}, // taken by the route
	} {
		got, err := Pair(c.small, c.large)
		require.NoError(t, err)
		require.Equal(t, []Model{
			{Name: c.wantSmall, Path: c.small, Device: "cpu", KVType: "f16"}, {Name: c.wantLarge, Path: c.large, Device: "cpu", KVType: "f16"},
		}, got.Models)
		require.Equal(t, []Route{{Name: "routed", Algorithm: "r-stitch", Models: []string{c.wantSmall, c.wantLarge}, OnPeerFailure: "error"}}, got.Routes)
	}
}

// The configurations that the project shows are valid.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../examples/config/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		_, err := Load(f)
		require.NoError(t, err)
	}
}

// Every key of the schema says what it is for, so that editors and documentation can.
func TestSchemaDescribesItsKeys(t *testing.T) {
	var schema struct {
		Defs map[string]struct {
			Properties map[string]struct {
				Description string
			}
		} `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(Schema(), &schema))
	require.NotEmpty(t, schema.Defs)
	for section, s := range schema.Defs {
		for key, p := range s.Properties {
			require.NotEmpty(t, p.Description, "%s.%s", section, key)
		}
	}
}

func TestCataloguePair(t *testing.T) {
	c, err := CataloguePair("qwen3-0.6b-32b")
	require.NoError(t, err)
	require.Equal(t, "catalogue:qwen3-0.6b", c.Models[0].Path)
	require.Equal(t, []string{"qwen3-0.6b", "qwen3-32b"}, c.Routes[0].Models)
	require.Equal(t, "qwen3-0.6b-32b", c.Routes[0].Name)
	// 8192 tokens of 28 and 64 layers with 8 heads of 128 dimensions, keys and values, 2 bytes each.
	require.EqualValues(t, 8192*(28+64)*8*128*2*2, c.Devices[0].KVMemory)
	c, err = CataloguePair("qwen2.5-coder-0.5b-1.5b")
	require.NoError(t, err)
	require.EqualValues(t, 1<<30, c.Devices[0].KVMemory)
	c, err = CataloguePair("demo")
	require.NoError(t, err)
	require.Equal(t, "demo", c.Routes[0].Name)
	_, err = CataloguePair("qwen3-0.6b-9b")
	require.ErrorContains(t, err, `no pair called "qwen3-0.6b-9b"; did you mean qwen3-0.6b-8b?`)
}
