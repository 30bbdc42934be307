/*
 * tokenrouter.h - the C ABI of libtokenrouter: GGUF weights in, batched forward passes out.
 *
 * The only public header. Rules that hold for all of it:
 *   - Integers, floats and pointers only. No struct is passed by value, no callback, no C++ exception crosses it.
 *   - The first field of every struct is its size in bytes, set by the caller (`s.size = sizeof s`); a size that the
 *     library does not know is TR_ERR_ARGUMENT. Zero in any other field means the documented default.
 *   - Every call that can fail returns a tr_status and, when it is not TR_OK, writes a NUL-terminated message into the
 *     caller's buffer (`err`, of `err_len` bytes; may be NULL with 0). The buffer is the caller's, because a caller may
 *     change its operating-system thread between two calls.
 *   - A bad file, a failed allocation or a bad argument is a status, never an abort. On failure out-parameters are NULL
 *     or zero.
 *   - Any thread may call. Calls on different handles may run at the same time; one tr_step at a time per arena (a second
 *     one waits). A handle must not be freed while a call uses it, nor before what was made from it: arenas, then their
 *     model, then the device.
 *   - All text is UTF-8. All integers are in the byte order of the machine.
 */
#ifndef TOKENROUTER_H
#define TOKENROUTER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(TR_BUILD)
#define TR_API __attribute__((visibility("default")))
#else
#define TR_API
#endif

/* Raised whenever anything in this header changes in layout or meaning. */
#define TR_ABI_VERSION 5

/* ---------------------------------------------------------------- status */

typedef int32_t tr_status;
enum {
    TR_OK = 0,
    TR_ERR_ARGUMENT = 1,    /* the call is wrong: a null pointer, an id out of range, an unknown struct size */
    TR_ERR_IO = 2,          /* a file cannot be opened, read or mapped */
    TR_ERR_FORMAT = 3,      /* a file is not a valid GGUF file; the message says what is wrong where */
    TR_ERR_UNSUPPORTED = 4, /* a valid file or setting that this build does not run; the message names it */
    TR_ERR_NO_MEMORY = 5,   /* an allocation failed; the message says how much was asked for */
    TR_ERR_DEVICE = 6,      /* the device failed or is gone */
    TR_ERR_INTERNAL = 7     /* a fault of the library's own */
};

/* The TR_ABI_VERSION that the library was built with. A caller compares it with its own before anything else. */
TR_API uint32_t tr_abi_version(void);

/* The library's version, its build and the instruction sets compiled in, as one line of text. Never NULL. */
TR_API const char *tr_version(void);

/* ---------------------------------------------------------------- device */

typedef struct tr_device tr_device;

typedef struct tr_device_params {
    uint32_t size;
    int32_t n_threads;      /* threads a step runs on, the calling one included; 0: all cores this process may use */
    const char *kind;       /* NULL or "cpu"; in libtokenrouter-cuda "cuda", too, and "cuda:1" for the second GPU */
    const char *isa;        /* NULL: the environment's TR_CPU_ISA, else the best one. "reference", "avx2", "avxvnni", "avx512vnni" */
} tr_device_params;

/* What a device is. Strings live as long as the device. */
typedef struct tr_device_info {
    uint32_t size;
    int32_t n_threads;
    const char *kind;       /* "cpu" or "cuda" */
    const char *isa;        /* the processor's instruction set in use */
    uint64_t joins;         /* thread-pool joins since the process began */
    uint64_t parks;         /* times a worker went to sleep */
} tr_device_info;

/*
 * Opens a device. All CPU devices of a process share one thread pool, sized by the first open one with n_threads > 0;
 * opening another with a different n_threads while it lives is TR_ERR_ARGUMENT.
 */
TR_API tr_status tr_device_open(const tr_device_params *params, tr_device **out, char *err, size_t err_len);
TR_API tr_status tr_device_describe(const tr_device *device, tr_device_info *info, char *err, size_t err_len);
TR_API void tr_device_close(tr_device *device); /* NULL is allowed */

/* ---------------------------------------------------------------- model */

typedef struct tr_model tr_model;

/* tr_model_params.flags */
enum {
    TR_MODEL_EXACT_FLOAT = 1, /* float32 activations on dequantized weights: slow, the yardstick of the integer path */
    TR_MODEL_CHECK_ONLY = 2   /* everything is checked but the weights, and nothing loaded: *out is NULL on TR_OK, too */
};

typedef struct tr_model_params {
    uint32_t size;
    uint32_t flags;
    int32_t *progress;      /* NULL, or where thousandths of the loading done are stored (atomically) while it runs */
} tr_model_params;

/* What a model is. Strings live as long as the model. */
typedef struct tr_model_info {
    uint32_t size;
    int32_t n_vocab;        /* rows of the output matrix = logits of a row */
    int32_t n_embd;         /* floats of a hidden state */
    int32_t n_layer;
    int32_t n_head;
    int32_t n_head_kv;
    int32_t head_dim;
    int32_t n_ctx_train;    /* context length that the file states */
    uint64_t n_params;
    uint64_t weight_bytes;  /* memory the packed weights take */
    uint64_t kv_bytes_per_token; /* with F16 keys and values, all layers */
    const char *architecture;    /* "qwen2" */
    const char *name;            /* general.name, or "" */
} tr_model_info;

/* Loads a GGUF file onto a device. The file may be removed afterwards. */
TR_API tr_status tr_model_load(tr_device *device, const char *path, const tr_model_params *params, tr_model **out,
                               char *err, size_t err_len);
TR_API tr_status tr_model_describe(const tr_model *model, tr_model_info *info, char *err, size_t err_len);
TR_API void tr_model_free(tr_model *model); /* NULL is allowed */

/* ---------------------------------------------------------------- router head */

/* A small network that scores rows of a model's steps: what a learned routing algorithm decides by. docs/heads.md has the file format. */
typedef struct tr_head tr_head;

/* What a head is. Strings live as long as the head. */
typedef struct tr_head_info {
    uint32_t size;
    int32_t n_top;          /* a row that names the head must ask for at least as many ids in n_top */
    int32_t needs_token;    /* not 0: such a row must ask for TR_WANT_TOKEN */
    float threshold;        /* that the file recommends, of 1 / (1 + exp(-head_logit)) */
    uint64_t n_params;
    uint64_t weight_bytes;  /* memory the weights take */
    const char *kind;       /* "linear", "mlp" or "residual" */
    const char *name;       /* general.name, or "" */
} tr_head_info;

/* Loads a head from a GGUF file for a model, onto the model's device. The head may outlive the model's handle. */
TR_API tr_status tr_head_load(tr_model *model, const char *path, tr_head **out, char *err, size_t err_len);
TR_API tr_status tr_head_describe(const tr_head *head, tr_head_info *info, char *err, size_t err_len);
TR_API void tr_head_free(tr_head *head); /* NULL is allowed; no step that names it may be running */

/* ---------------------------------------------------------------- KV arena */

typedef struct tr_arena tr_arena;

/* tr_arena_params.kv_type: how keys and values are stored. */
enum {
    TR_KV_F16 = 0,
    TR_KV_Q8_0 = 1          /* blocks of 32 dimensions, 8 bits each and a scale: 17/32 of the memory; head_dim a multiple of 32 */
};

typedef struct tr_arena_params {
    uint32_t size;
    int32_t n_pages;        /* pages of TR_PAGE_TOKENS tokens, at least 1 */
    int32_t max_tokens;     /* most tokens one step may append over all its segments; 0: 512 */
    int32_t max_rows;       /* most rows one step may ask for; 0: 64 */
    int32_t kv_type;        /* TR_KV_* */
} tr_arena_params;

/* What an arena has done since it was made. */
typedef struct tr_arena_info {
    uint32_t size;
    int32_t has_graphs;     /* not 0: the device records what steps of a shape do, and runs it as a whole from then on */
    uint64_t steps;         /* that succeeded */
    uint64_t graph_hits;    /* steps that were run from a recording; 0 without has_graphs */
    uint64_t graph_misses;  /* steps that were not: of a new shape, or of one that is not recorded; 0 without has_graphs */
} tr_arena_info;

/* Tokens of one page of the KV cache. A sequence's i-th page holds positions [i*TR_PAGE_TOKENS, (i+1)*TR_PAGE_TOKENS). */
#define TR_PAGE_TOKENS 32

/* Most ids that one row can ask for in top_ids. */
#define TR_MAX_TOP 128

/*
 * Allocates, once, the KV cache and all the working memory of steps on it. Which page belongs to whom is the caller's
 * bookkeeping; the arena reads and writes the pages that a step names and nothing else.
 */
TR_API tr_status tr_arena_create(tr_model *model, const tr_arena_params *params, tr_arena **out, char *err, size_t err_len);
/* Does not wait for a step that is running. */
TR_API tr_status tr_arena_describe(const tr_arena *arena, tr_arena_info *info, char *err, size_t err_len);
/* Copies the keys and values of page `from` into page `to`, all layers: what a fork of a half-filled page needs. */
TR_API tr_status tr_arena_copy_page(tr_arena *arena, int32_t from, int32_t to, char *err, size_t err_len);
TR_API void tr_arena_free(tr_arena *arena); /* NULL is allowed */

/* ---------------------------------------------------------------- step */

/*
 * One request's part of a batch: an extend of its sequence by n_tokens. Decode is an extend by one, prefill an extend by
 * a chunk, a return from a peer an extend by what came back.
 */
typedef struct tr_segment {
    uint32_t size;
    int32_t position;       /* tokens of this sequence that are in the KV cache already = position of tokens[0] */
    const int32_t *tokens;  /* [n_tokens] each in [0, n_vocab) */
    const int32_t *pages;   /* [n_pages] page table; covers at least position + n_tokens tokens */
    int32_t n_tokens;       /* at least 1 */
    int32_t n_pages;
} tr_segment;

/*
 * How a row's token is drawn. Order: raw logits; ids at or above n_valid and ids outside `valid` are dropped (here the
 * signals and log-probabilities of the row are taken); logit bias; penalties; `allowed`; temperature; top-k; top-p; min-p;
 * draw. Ties go to the lower id. The random number is a pure function of (seed, choice, position of the drawn token,
 * stream): a discarded token uses up nothing.
 *
 * Penalties are over the ids in seen_ids with their counts (prompt and committed tokens): logit l > 0 becomes
 * l / repetition, else l * repetition; then l -= presence + frequency * count.
 */
typedef struct tr_sampling {
    uint32_t size;
    float temperature;      /* 0 (or below 1e-5): greedy, the most likely id after bias, penalties and `allowed` */
    int32_t top_k;          /* 0: off */
    float top_p;            /* 0 or >= 1: off; else the smallest set of most likely ids whose probability reaches it */
    float min_p;            /* 0: off; else ids at least min_p times as likely as the likeliest */
    float repetition_penalty; /* 0 or 1: off */
    float presence_penalty;
    float frequency_penalty;
    uint64_t seed;
    uint32_t choice;        /* index among the choices of one call (the API's n) */
    uint32_t stream;        /* the model's index in the route */
    const int32_t *seen_ids;    /* [n_seen], distinct, for the penalties; NULL with 0 */
    const int32_t *seen_counts; /* [n_seen] */
    const int32_t *bias_ids;    /* [n_bias], distinct; NULL with 0 */
    const float *bias;          /* [n_bias], added to the logit */
    const uint32_t *allowed;    /* NULL, or bit i%32 of word i/32 set: id i may be drawn; (n_vocab+31)/32 words */
    int32_t n_seen;
    int32_t n_bias;
} tr_sampling;

/* tr_row.want: what a row asks for. Log-sum-exp and entropy always come. */
enum {
    TR_WANT_TOKEN = 1,      /* draw a token as `sampling` says */
    TR_WANT_HIDDEN = 2,     /* the hidden state after the final norm */
    TR_WANT_LOGITS = 4      /* all raw logits: for tests and tools, not for serving */
};

/*
 * One wanted output position of a step, and its answer. Pointers in the answer point into memory of the arena and are
 * valid until the next tr_step on it or its end.
 */
typedef struct tr_row {
    uint32_t size;
    uint32_t want;          /* TR_WANT_* */
    int32_t segment;        /* index of the segment */
    int32_t offset;         /* index of the token in the segment whose successor is wanted */
    int32_t n_top;          /* ids wanted in top_ids, 0 to TR_MAX_TOP */
    int32_t n_valid;        /* ids [0, n_valid) are in play, all others masked; 0: n_vocab */
    const uint32_t *valid;  /* NULL, or a further mask of ids in play, laid out as tr_sampling.allowed */
    const tr_sampling *sampling; /* needed with TR_WANT_TOKEN */
    const tr_head *head;    /* NULL, or a head of the arena's model that scores this row */

    /* answer */
    int32_t token;          /* the drawn id, or -1 if not wanted, if no id may be drawn, or if logits are not finite */
    float logprob;          /* of `token`, natural log, before bias, penalties and temperature */
    float logsumexp;        /* natural log of the sum of exp(raw logit) over the ids in play; NaN if not finite: this
                             * sequence's activations left the range of float32; other rows are not touched */
    float entropy;          /* of softmax(raw logits) over the ids in play, in nats */
    const int32_t *top_ids; /* [n_top] ids in play with the largest raw logits, largest first; -1 where none is left */
    const float *top_logits;/* [n_top] their raw logits; minus infinity where none is left */
    const float *hidden;    /* [n_embd] or NULL */
    const float *logits;    /* [n_vocab] or NULL */
    float head_logit;       /* of `head`, before the logistic function; 0 without one; NaN if the row's logits are not finite */
} tr_row;

typedef struct tr_batch {
    uint32_t size;
    int32_t n_segments;     /* at least 1 */
    int32_t n_rows;         /* may be 0: a prefill chunk that is not the last */
    int32_t reserved;
    const tr_segment *segments;
    tr_row *rows;
} tr_batch;

/*
 * Runs one ragged batch: appends every segment's tokens to its pages and answers every row. A row's answer depends on
 * nothing but its own sequence and its own parameters: bit for bit the same alone, in any batch, after any chunking.
 * Two segments of one batch must not write the same page, nor one read a page that another writes. A batch that is refused
 * (TR_ERR_ARGUMENT) has written nothing.
 */
TR_API tr_status tr_step(tr_arena *arena, const tr_batch *batch, char *err, size_t err_len);

/* ---------------------------------------------------------------- weights */

/*
 * Converts weights from one storage format to another, both as ggml's type ids (those of a GGUF tensor record): by way of
 * float32, rounded to nearest. `src` holds whole blocks of `from`, as many weights as make whole blocks of `to`, for which
 * `dst` has exactly the room. Any format that models may be in can be read; which can be written, the message of
 * TR_ERR_UNSUPPORTED says. Weights that are not finite are TR_ERR_FORMAT; weights too large for a format,
 * TR_ERR_UNSUPPORTED.
 */
TR_API tr_status tr_convert(uint32_t from, const void *src, size_t src_bytes, uint32_t to, void *dst, size_t dst_bytes,
                            char *err, size_t err_len);

#ifdef __cplusplus
}
#endif
#endif /* TOKENROUTER_H */
