#include "heads/operators.h"

#include <algorithm>

#include "heads/math.h"
#include "tokenrouter.h"

namespace tr::heads {

namespace {

// The sum of term(i) for i < n, in the order that math.h states.
template <class Term> double sum(int64_t n, Term term) {
    double lanes[kSumLanes] = {};
    for (int64_t first = 0; first < n; first += kSumLanes)
        for (int64_t i = first; i < std::min(n, first + kSumLanes); i++) lanes[i - first] += term(i);
    for (int step = kSumLanes / 2; step > 0; step /= 2)
        for (int i = 0; i < step; i++) lanes[i] += lanes[i + step];
    return lanes[0];
}

void dot(cpu::Worker &w, const float *x, int64_t n, int64_t k, const float *weight, const float *bias, float *y) {
    for (int64_t r; (r = w.next(n)) < n;) {
        const float *row = x + r * k;
        const double product = sum(k, [=](int64_t i) { return static_cast<double>(row[i]) * static_cast<double>(weight[i]); });
        y[r] = static_cast<float>(product + (bias ? static_cast<double>(*bias) : 0));
    }
    w.join();
}

void layer_norm(cpu::Worker &w, const float *x, int64_t n, int64_t k, const float *gain, const float *bias, float *y) {
    for (int64_t r; (r = w.next(n)) < n;) {
        const float *row = x + r * k;
        const double mean = sum(k, [=](int64_t i) { return static_cast<double>(row[i]); }) / static_cast<double>(k);
        const auto square = [=](int64_t i) { return (static_cast<double>(row[i]) - mean) * (static_cast<double>(row[i]) - mean); };
        const double scale = norm_scale(sum(k, square) / static_cast<double>(k));
        for (int64_t i = 0; i < k; i++) y[r * k + i] = normed(row[i], mean, scale, gain[i], bias[i]);
    }
    w.join();
}

// f(i) for i < n, in pieces: a row is shared among the workers.
template <class F> void for_each(cpu::Worker &w, int64_t n, F f) {
    constexpr int64_t kPiece = 512;
    const int64_t pieces = (n + kPiece - 1) / kPiece;
    for (int64_t p; (p = w.next(pieces)) < pieces;)
        for (int64_t i = p * kPiece; i < std::min(n, (p + 1) * kPiece); i++) f(i);
    w.join();
}

void relu_all(cpu::Worker &w, int64_t n, float *x) {
    for_each(w, n, [=](int64_t i) { x[i] = relu(x[i]); });
}

void gelu_all(cpu::Worker &w, int64_t n, float *x) {
    for_each(w, n, [=](int64_t i) { x[i] = gelu(x[i]); });
}

void add(cpu::Worker &w, const float *y, int64_t n, float *x) {
    for_each(w, n, [=](int64_t i) { x[i] += y[i]; });
}

void take(cpu::Worker &w, const Inputs &in, int64_t n, int64_t k, float *top, int32_t *ids) {
    for (int64_t i; (i = w.next(n)) < n;) {
        std::copy_n(in.top_logits + i * TR_MAX_TOP, k, top + i * k);
        ids[i] = std::max(in.tokens[i], 0);
    }
    w.join();
}

void join(cpu::Worker &w, const Inputs &in, const float *embeddings, int64_t n, int64_t k, float *to) {
    for (int64_t i; (i = w.next(n)) < n;) {
        std::copy_n(in.hidden + i * k, k, to + i * 3 * k);
        if (in.tokens[i] >= 0) std::copy_n(embeddings + i * k, k, to + i * 3 * k + k);
        else std::fill_n(to + i * 3 * k + k, k, 0.0f);
    }
    w.join();
}

} // namespace

const Operators kOperators{dot, layer_norm, relu_all, gelu_all, add, take, join};

} // namespace tr::heads
