#include "cpu/kernels/attention.h"

namespace tr::cpu::TR_ISA {

void attention_q8_0(Worker &worker, const AttentionShape &shape, const QueryToken *tokens, int64_t n, const float *q, KvLayer kv,
                    AttentionScratch &scratch, float *out) {
    attend<CacheQ8_0>(worker, shape, tokens, n, q, kv, scratch, out);
}

} // namespace tr::cpu::TR_ISA
