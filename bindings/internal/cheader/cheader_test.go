package cheader

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const sample = `
/* A comment; with a semicolon { and a brace. */
#ifndef X
#define X
#if defined(TR_BUILD)
#define TR_API __attribute__((visibility("default")))
#else
#define TR_API
#endif
#ifdef __cplusplus
extern "C" {
#endif
#define TR_ONE 1
typedef int32_t tr_status;
enum {
    TR_A = 0,
    TR_B = 0x10, // trailing
};
typedef struct tr_thing tr_thing;
typedef struct tr_box { // a box
    uint32_t size;
    const char *name; /* ; */
    float **rows;
    const tr_thing *thing;
} tr_box;
TR_API tr_status tr_open(const tr_box *box,
                         tr_thing **out);
TR_API const char *tr_name(void);
#ifdef __cplusplus
}
#endif
#endif
`

func TestParse(t *testing.T) {
	h, err := Parse(sample)
	require.NoError(t, err)
	require.Equal(t, &Header{
		Functions: map[string]string{
			"tr_open": "tr_status tr_open(const tr_box *box,tr_thing * *out)",
			"tr_name": "const char *tr_name(void)",
		},
		Structs: []Struct{{Name: "tr_box", Fields: []Field{
			{"size", "uint32_t"}, {"name", "*"}, {"rows", "*"}, {"thing", "*"},
		}}},
		Constants: map[string]int64{"TR_ONE": 1, "TR_A": 0, "TR_B": 16},
	}, h)
}

func TestParseRefusesWhatItDoesNotKnow(t *testing.T) {
	for name, text := range map[string]string{
		"enumerator without a value": "enum { TR_A };",
		"value that is no number":    "enum { TR_A = TR_B };",
		"array member":               "typedef struct tr_x { int32_t a[4]; } tr_x;",
		"two members in one":         "typedef struct tr_x { int32_t a, b; } tr_x;",
		"bit field":                  "typedef struct tr_x { uint32_t a : 3; } tr_x;",
		"nested struct":              "typedef struct tr_x { struct { int32_t a; } b; } tr_x;",
		"function without TR_API":    "int tr_f(void);",
		"function declared twice":    "TR_API int tr_f(void); TR_API int tr_f(int);",
		"function of another name":   "TR_API int f(void);",
	} {
		_, err := Parse(text)
		require.Error(t, err, name)
	}
}

func TestNormalize(t *testing.T) {
	require.Equal(t, Normalize("int  tr_f( const char*a , tr_x **b );"), Normalize("int tr_f(const char *a,\n tr_x** b)"))
	require.NotEqual(t, Normalize("int tr_f(char *a)"), Normalize("int tr_f(const char *a)"))
	require.NotEqual(t, Normalize("int tr_f(char *a)"), Normalize("int tr_f(char a)"))
}

func FuzzParse(f *testing.F) {
	f.Add(sample)
	f.Add("}{;")
	f.Fuzz(func(_ *testing.T, text string) {
		_, _ = Parse(text) // must return
	})
}
