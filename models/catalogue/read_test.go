package catalogue

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCatalogueIsSound(t *testing.T) {
	taken := map[string]bool{DemoSmall: true, DemoLarge: true}
	name := regexp.MustCompile(`^[a-z0-9][a-z0-9.-]+$`)
	claim := func(n string) {
		require.Regexp(t, name, n)
		require.False(t, taken[n], "%s is there twice", n)
		taken[n] = true
	}
	for _, m := range Models() {
		claim(m.Name)
		require.Regexp(t, `^hf:[^/]+/[^/]+/[^/]+\.gguf$`, m.Source)
		require.Contains(t, bits, m.Quantization, "%s: memory.go must know how many bits that takes", m.Name)
		require.Positive(t, m.Parameters)
		require.Positive(t, m.KVBytes())
		require.Positive(t, m.Context)
		require.NotEmpty(t, m.License)
		require.Equal(t, m.Bytes == 0, m.SHA256 == "", "%s: a file that was held in hand has both", m.Name)
	}
	for _, p := range Pairs() {
		claim(p.Name)
		small, large := Find(p.Models[0]), Find(p.Models[1])
		require.NotNil(t, small, p.Name)
		require.NotNil(t, large, p.Name)
		require.Less(t, small.Parameters, large.Parameters)
		require.NotEmpty(t, p.About)
	}
}

// What is on record here is what the scripts of the tests download and check.
func TestRecordsAgreeWithTheScripts(t *testing.T) {
	content, err := os.ReadFile("../../scripts/models.json")
	require.NoError(t, err)
	var scripts struct {
		Models []struct {
			File, SHA256 string
			Bytes        int64
		}
	}
	require.NoError(t, json.Unmarshal(content, &scripts))
	seen := 0
	for _, m := range Models() {
		for _, s := range scripts.Models {
			if s.File == m.File() {
				require.Equal(t, s.Bytes, m.Bytes)
				require.Equal(t, s.SHA256, m.SHA256)
				seen++
			}
		}
	}
	require.Equal(t, 2, seen)
}

func TestMemory(t *testing.T) {
	// 28 layers x 2 heads x 128 dimensions x (K, V) x 2 bytes.
	require.EqualValues(t, 28672, Find("qwen2.5-coder-1.5b").KVBytes())
	size, exact := Find("qwen2.5-coder-1.5b").Size()
	require.True(t, exact)
	require.EqualValues(t, 1117320768, size)
	// 596,049,920 x 34 / 32.
	size, exact = Find("qwen3-0.6b").Size()
	require.False(t, exact)
	require.EqualValues(t, 633303040, size)
	require.EqualValues(t, 633303040, Find("qwen3-0.6b").ReadPerToken())
	// 30,532,122,624 x 5.03 / 8 bytes, of which a token reads 3,041,867,776 / 30,532,122,624.
	require.InEpsilon(t, 3041867776*5.03/8, Find("qwen3-30b-a3b").ReadPerToken(), 1e-6)
	// The estimate for Q4_K_M is that of the file on record: 1,777,088,000 x 5.03 / 8 is within 0.1 % of it.
	size, _ = Find("r1-distill-1.5b").Size()
	require.InEpsilon(t, 1117320768, size, 0.001)
	// 8192 x (12,288 + 28,672) bytes of keys and values, both files, and the rest.
	require.EqualValues(t, 8192*(12288+28672)+491400064+1117320768+Overhead, FindPair("qwen2.5-coder-0.5b-1.5b").Memory())
}

func TestLookUp(t *testing.T) {
	models, err := LookUp("qwen3-0.6b-8b")
	require.NoError(t, err)
	require.Equal(t, []*Model{Find("qwen3-0.6b"), Find("qwen3-8b")}, models)
	models, err = LookUp("qwen3-8b")
	require.NoError(t, err)
	require.Equal(t, []*Model{Find("qwen3-8b")}, models)
	_, err = LookUp("qwen3-9b")
	require.ErrorContains(t, err, `no model or pair called "qwen3-9b"; did you mean qwen3-4b? tokenrouter list --all`)
	_, err = LookUp("something else")
	require.ErrorContains(t, err, `no model or pair called "something else"; it has the models qwen2.5-coder-0.5b`)
	require.Nil(t, Find("x"))
	require.Nil(t, FindPair("x"))
}
