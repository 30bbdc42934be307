// The machine's limits: what memory delivers and what the int8 dot-product units do at most.
#pragma once
#include "cpu/pool.h"

namespace tr::bench {

// Prints memory reads in GB/s and int8 dot products in TOPS of all workers together.
void print_limits(cpu::Pool &pool);

} // namespace tr::bench
