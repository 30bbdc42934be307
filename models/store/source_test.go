package store

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// env is an environment.
func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestResolve(t *testing.T) {
	for _, c := range []struct {
		arg  string
		env  func(string) string
		want Source
	}{
		{"qwen2.5-coder-0.5b", env(), Source{
			Name: "qwen2.5-coder-0.5b", From: "hf:Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF/qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
			URL:  "https://huggingface.co/Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
			File: "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf", Bytes: 491400064, SHA256: "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
		}},
		{"hf:a/b/c.gguf", env("HF_TOKEN", "t"), Source{Name: "c", From: "hf:a/b/c.gguf", URL: "https://huggingface.co/a/b/resolve/main/c.gguf", File: "c.gguf", Token: "t"}},
		{"hf:a/b@v2/sub/c.gguf", env(), Source{Name: "c", From: "hf:a/b@v2/sub/c.gguf", URL: "https://huggingface.co/a/b/resolve/v2/sub/c.gguf", File: "c.gguf"}},
		{"hf:a/b/c.gguf", env("HF_ENDPOINT", "http://mirror:8080/hf/", "HF_TOKEN", "t"), Source{Name: "c", From: "hf:a/b/c.gguf", URL: "http://mirror:8080/hf/a/b/resolve/main/c.gguf", File: "c.gguf", Token: "t"}},
		{"https://huggingface.co/a/b/blob/main/c.gguf", env("HF_TOKEN", "t"), Source{Name: "c", From: "https://huggingface.co/a/b/blob/main/c.gguf", URL: "https://huggingface.co/a/b/resolve/main/c.gguf", File: "c.gguf", Token: "t"}},
		// A token goes to the hub, to nobody else, and not in the clear where the hub is https.
		{"https://other.example/c.gguf?download=true", env("HF_TOKEN", "t"), Source{Name: "c", From: "https://other.example/c.gguf?download=true", URL: "https://other.example/c.gguf?download=true", File: "c.gguf"}},
		{"http://huggingface.co/a/c.gguf", env("HF_TOKEN", "t"), Source{Name: "c", From: "http://huggingface.co/a/c.gguf", URL: "http://huggingface.co/a/c.gguf", File: "c.gguf"}},
	} {
		got, err := Resolve(c.arg, c.env)
		require.NoError(t, err, c.arg)
		require.Equal(t, []Source{c.want}, got)
	}
}

func TestResolvePairAndParts(t *testing.T) {
	got, err := Resolve("qwen3-0.6b-8b", env())
	require.NoError(t, err)
	require.Equal(t, []string{"Qwen3-0.6B-Q8_0.gguf", "Qwen3-8B-Q4_K_M.gguf"}, []string{got[0].File, got[1].File})

	got, err = Resolve("hf:a/b/big-00002-of-00003.gguf", env())
	require.NoError(t, err)
	require.Len(t, got, 3)
	for i, file := range []string{"big-00001-of-00003.gguf", "big-00002-of-00003.gguf", "big-00003-of-00003.gguf"} {
		require.Equal(t, Source{Name: "big", From: "hf:a/b/" + file, URL: "https://huggingface.co/a/b/resolve/main/" + file, File: file}, got[i])
	}
}

func TestResolveMistakes(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll("a/b", 0o700))
	require.NoError(t, os.WriteFile(filepath.Join("a/b", "here.gguf"), nil, 0o600))
	for arg, want := range map[string]string{
		"qwen3-8c":                         `no model or pair called "qwen3-8c"; did you mean qwen3-8b?`,
		"":                                 `no model or pair called ""`,
		"ftp://host/a.gguf":                `"ftp://host/a.gguf": URLs begin with https:// or http://`,
		"hf:a/b":                           "is not hf:OWNER/REPO/FILE.gguf",
		"hf:a/b/../../c.gguf":              "is not hf:OWNER/REPO/FILE.gguf",
		"hf:a//c.gguf":                     "is not hf:",
		"hf:a/b/c.bin":                     "does not end in the name of a GGUF file",
		"https://example.org/":             "does not end in the name of a GGUF file",
		"https://example.org/.hidden.gguf": "does not end in the name of a GGUF file",
		"https:///c.gguf":                  "is not a URL",
		"https://me:secret@x.org/c.gguf":   "leave them out",
		"a/b/c.gguf":                       "write hf:a/b/c.gguf",
		"a/b/here.gguf":                    "is a file on this machine",
		"hf:a/b/big-00004-of-00003.gguf":   "expected part 1 to N",
		"hf:a/b/big-00001-of-99999.gguf":   "at most 1000",
	} {
		_, err := Resolve(arg, env())
		require.ErrorContains(t, err, want, arg)
	}
	_, err := Resolve("qwen3-8b", env("HF_ENDPOINT", "mirror"))
	require.ErrorContains(t, err, `HF_ENDPOINT: "mirror" is not a URL`)
}

func FuzzResolve(f *testing.F) {
	for _, s := range []string{"hf:a/b/c.gguf", "https://x/y-00001-of-00002.gguf", "hf:a/b@c/%2e%2e/d.gguf", "qwen3-8b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, arg string) {
		list, err := Resolve(arg, env())
		if err != nil {
			return
		}
		for _, s := range list {
			if filepath.Base(s.File) != s.File || !fileName.MatchString(s.File) || s.URL == "" {
				t.Fatalf("%q: %+v", arg, s)
			}
		}
	})
}
