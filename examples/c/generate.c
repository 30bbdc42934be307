/*
 * Greedy generation with libtokenrouter, from token ids to token ids. The library computes; tokenizing is the caller's:
 *
 *   tokenrouter tokenize model.gguf <<< "Once upon a time"      # text to ids, as JSON
 *   ./generate model.gguf 16 12522 5193 264 882                  # 16 ids that follow those
 *
 * Build: cc generate.c $(pkg-config --cflags --libs tokenrouter) -o generate, or with CMakeLists.txt beside this file.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <tokenrouter.h>

static char err[512];

static int fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, err);
    return 1;
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: %s model.gguf COUNT ID [ID ...]\n", argv[0]);
        return 2;
    }
    if (tr_abi_version() != TR_ABI_VERSION) { /* before anything else: structs of another version have other layouts */
        fprintf(stderr, "the library has ABI %u, this program was built for %d\n", tr_abi_version(), TR_ABI_VERSION);
        return 1;
    }
    int count = atoi(argv[2]), n = argc - 3;
    if (count < 1) {
        fprintf(stderr, "COUNT is at least 1\n");
        return 2;
    }

    /* A device, a model on it, and an arena: the KV cache with room for this one sequence. */
    tr_device_params device_params = {.size = sizeof device_params};
    tr_device *device = NULL;
    if (tr_device_open(&device_params, &device, err, sizeof err) != TR_OK)
        return fail("device");
    tr_model_params model_params = {.size = sizeof model_params};
    tr_model *model = NULL;
    if (tr_model_load(device, argv[1], &model_params, &model, err, sizeof err) != TR_OK)
        return fail("model");
    int32_t n_pages = (n + count + TR_PAGE_TOKENS - 1) / TR_PAGE_TOKENS;
    tr_arena_params arena_params = {.size = sizeof arena_params, .n_pages = n_pages, .max_tokens = n, .max_rows = 1};
    tr_arena *arena = NULL;
    if (tr_arena_create(model, &arena_params, &arena, err, sizeof err) != TR_OK)
        return fail("arena");

    /* Which page holds what is the caller's to decide: here the sequence simply has all of them, in order. */
    int32_t *pages = malloc((size_t)n_pages * sizeof *pages);
    int32_t *tokens = malloc((size_t)n * sizeof *tokens);
    if (pages == NULL || tokens == NULL) {
        fprintf(stderr, "no memory\n");
        return 1;
    }
    for (int32_t i = 0; i < n_pages; i++)
        pages[i] = i;
    for (int i = 0; i < n; i++)
        tokens[i] = atoi(argv[3 + i]);

    /* Every step is an extend: first by the prompt, then by one token at a time. */
    tr_sampling greedy = {.size = sizeof greedy};
    int32_t position = 0;
    for (int i = 0; i < count; i++) {
        tr_segment segment = {.size = sizeof segment, .position = position, .tokens = tokens, .pages = pages, .n_tokens = n, .n_pages = n_pages};
        tr_row row = {.size = sizeof row, .want = TR_WANT_TOKEN, .segment = 0, .offset = n - 1, .sampling = &greedy};
        tr_batch batch = {.size = sizeof batch, .n_segments = 1, .n_rows = 1, .segments = &segment, .rows = &row};
        if (tr_step(arena, &batch, err, sizeof err) != TR_OK)
            return fail("step");
        if (row.token < 0) {
            fprintf(stderr, "the model's activations are not finite\n");
            return 1;
        }
        printf("%d ", row.token);
        fflush(stdout);
        position += n;
        tokens[0] = row.token;
        n = 1;
    }
    printf("\n");

    tr_arena_free(arena); /* in this order: what was made from something goes first */
    tr_model_free(model);
    tr_device_close(device);
    free(tokens);
    free(pages);
    return 0;
}
