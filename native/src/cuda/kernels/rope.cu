// Positions: norms of heads, the rotation, and the way of keys and values into the cache. A block has a token, a warp a head at a time.
#include "cuda/kernels/cache.h"
#include "cuda/kernels/launch.h"

namespace tr::cuda {

namespace {

constexpr int kWarps = 4;

// Norms a head (if asked for) and rotates its pairs (i, i + dim/2), in place. A whole warp calls; what it wrote is there for all its lanes.
__device__ __forceinline__ void turn(float *head, int dim, const float *gain, float eps, const float *cos, const float *sin) {
    float scale = 1;
    if (gain) {
        scale = norm_scale(head, dim, eps);
        __syncwarp(); // all have read what is now written
    }
    for (int i = lane_id(); i < dim / 2; i += 32) {
        float a = head[i], b = head[i + dim / 2];
        if (gain) {
            a = a * scale * gain[i];
            b = b * scale * gain[i + dim / 2];
        }
        head[i] = __fmaf_rn(-b, sin[i], a * cos[i]);
        head[i + dim / 2] = __fmaf_rn(a, sin[i], b * cos[i]);
    }
    __syncwarp();
}

template <bool kQ8>
__global__ void __launch_bounds__(32 * kWarps) rope_store_kernel(cpu::AttentionShape shape, Tokens tokens, float *q, float *k, const float *v, cpu::Rotation r,
                                                                 cpu::KvLayer kv) {
    const int64_t token = blockIdx.x;
    const int dim = shape.head_dim;
    const int64_t position = tokens.tokens[token].position;
    if (position == kNowhere) return;
    const float *cos = r.cos + position * (dim / 2), *sin = r.sin + position * (dim / 2);
    for (int head = warp_id(); head < shape.n_head; head += kWarps) turn(q + (token * shape.n_head + head) * dim, dim, r.q_gain, r.eps, cos, sin);

    const int64_t page = tokens.tokens[token].pages[position / cpu::kPageTokens];
    const auto slot = static_cast<int>(position % cpu::kPageTokens);
    for (int head = warp_id(); head < shape.n_head_kv; head += kWarps) {
        float *key = k + (token * shape.n_head_kv + head) * dim;
        const float *value = v + (token * shape.n_head_kv + head) * dim;
        turn(key, dim, r.k_gain, r.eps, cos, sin);
        const Page<kQ8> to(shape, kv, page, head);
        for (int block = 0; 32 * block < dim; block++) {
            const int d = 32 * block + lane_id();
            to.store(d < dim ? key[d] : 0, d < dim ? value[d] : 0, slot, block);
        }
    }
}

} // namespace

void rope_store(const cpu::AttentionShape &shape, const Tokens &tokens, float *q, float *k, const float *v, const cpu::Rotation &rotation,
                const cpu::KvLayer &kv, cudaStream_t stream) {
    const Grid grid(static_cast<unsigned>(tokens.n), 32 * kWarps, stream);
    if (kv.type == cpu::KvType::kQ8_0) launch(rope_store_kernel<true>, grid, shape, tokens, q, k, v, rotation, kv);
    else launch(rope_store_kernel<false>, grid, shape, tokens, q, k, v, rotation, kv);
}

} // namespace tr::cuda
