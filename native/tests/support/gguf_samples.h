// Tiny GGUF files: a good one, and many that are each wrong in one way. The reader's test checks what is said about them;
// the fuzz target starts from them.
#pragma once
#include <string>
#include <vector>

#include "support/gguf_writer.h"
#include "tokenrouter.h"

namespace tr::test {

struct Sample {
    std::string name;
    Bytes bytes;
    tr_status status;      // TR_OK: the reader takes it
    std::string message;   // part of the error
};

// One metadata pair of every kind and two tensors, Q8_0 and F32.
GgufWriter good_writer();
std::vector<Sample> gguf_samples();

} // namespace tr::test
