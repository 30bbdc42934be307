package models_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tokenrouter/tokenrouter/models"
	"github.com/tokenrouter/tokenrouter/models/modelstest"
)

func TestInspectFindsAllProblems(t *testing.T) {
	r := models.Inspect(modelstest.File(t, whole()))
	require.Empty(t, r.Problems)
	require.Equal(t, modelstest.Template, r.Template)
	require.NotNil(t, r.Chat)
	require.Equal(t, 504, r.Info.VocabSize)

	r = models.Inspect(modelstest.File(t, whole().
		Set("qwen2.rope.freq_base", float32(-1)).
		Set("tokenizer.chat_template", "{% if %}").
		Tensor("more", 0, []uint64{1}, make([]byte, 4))))
	require.Len(t, r.Problems, 2)
	require.ErrorContains(t, r.Problems[0], "qwen2.rope.freq_base is -1")
	require.ErrorContains(t, r.Problems[1], "chat template")
	require.NotNil(t, r.Tokenizer)
	require.Nil(t, r.Chat)

	r = models.Inspect(modelstest.File(t, whole().Set("tokenizer.ggml.pre", "viking")))
	require.Len(t, r.Problems, 1)
	require.Nil(t, r.Tokenizer)
	require.Equal(t, 2, r.Info.Layers)
}
