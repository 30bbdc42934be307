// A step allocates nothing: no malloc on any thread while tr_step runs.
#include <atomic>
#include <cstddef>

#include "support/check.h"
#include "support/engine.h"
#include "support/tiny_model.h"

#if defined(TR_SANITIZED)

int main() { return 0; } // the sanitizers bring their own malloc; the other builds test this

#else

namespace {

std::atomic<bool> counting{false};
std::atomic<int> allocations{0};

void count() {
    if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1, std::memory_order_relaxed);
}

} // namespace

// All ways to heap memory, operator new included, end in these; the C library exports the originals by these names.
extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

void *malloc(size_t n) { count(); return __libc_malloc(n); }
void *calloc(size_t n, size_t each) { count(); return __libc_calloc(n, each); }
void *realloc(void *p, size_t n) { count(); return __libc_realloc(p, n); }
void *memalign(size_t alignment, size_t n) { count(); return __libc_memalign(alignment, n); }
void *aligned_alloc(size_t alignment, size_t n) { count(); return __libc_memalign(alignment, n); }
int posix_memalign(void **p, size_t alignment, size_t n) { count(); return (*p = __libc_memalign(alignment, n)) ? 0 : 12; }
}

using namespace tr::test;

namespace {

int allocations_of(const Engine &e, tr_batch &batch) {
    allocations = 0;
    counting = true;
    const tr_status status = tr_step(e.arena.get(), &batch, nullptr, 0);
    counting = false;
    CHECK_EQUAL(TR_OK, status);
    return allocations.load();
}

} // namespace

int main() {
    counting = true;
    std::vector<int> *volatile counted = new std::vector<int>(3); // volatile: or the compiler may drop the pair
    delete counted;
    counting = false;
    CHECK(allocations.load() >= 2); // the counting works

    TinyModel model;
    model.type = mixed_types;
    const Engine e(model.bytes(), {.max_tokens = 600, .max_rows = 200});
    const auto tokens = random_tokens(500, 300, 1);
    const auto pages = upto(32);
    const int32_t seen_ids[] = {1, 2, 3}, counts[] = {1, 2, 3}, bias_ids[] = {7};
    const float bias[] = {1};
    const std::vector<uint32_t> mask(10, 0x7fffffff);

    tr_sampling s{};
    s.size = sizeof s;
    s.temperature = 0.8f;
    s.top_p = 0.9f;
    s.min_p = 0.01f;
    s.repetition_penalty = 1.1f;
    s.seen_ids = seen_ids;
    s.seen_counts = counts;
    s.n_seen = 3;
    s.bias_ids = bias_ids;
    s.bias = bias;
    s.n_bias = 1;
    s.allowed = mask.data();
    std::vector<tr_row> rows(150);
    for (size_t i = 0; i < rows.size(); i++) {
        tr_row &r = rows[i];
        r = {};
        r.size = sizeof r;
        r.want = TR_WANT_TOKEN | TR_WANT_HIDDEN | TR_WANT_LOGITS;
        r.offset = static_cast<int32_t>(i);
        r.n_top = TR_MAX_TOP;
        r.valid = mask.data();
        r.sampling = &s;
    }
    tr_segment segment{sizeof segment, 0, tokens.data(), pages.data(), 500, 32};
    tr_batch batch{sizeof batch, 1, 150, 0, &segment, rows.data()};
    CHECK_EQUAL(0, allocations_of(e, batch)); // the first step and a prefill of several chunks
    CHECK_EQUAL(0, allocations_of(e, batch));
    for (const int32_t top_k : {20, 299}) {
        s.top_k = top_k;
        CHECK_EQUAL(0, allocations_of(e, batch));
    }
    segment.n_tokens = 1;
    segment.position = 500;
    batch.n_rows = 1;
    for (int i = 0; i < 10; i++) CHECK_EQUAL(0, allocations_of(e, batch)); // decode
    return report();
}

#endif
