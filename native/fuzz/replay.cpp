// Runs a fuzz target without libFuzzer: over the samples, over files named on the command line, and over random changes of
// the samples (a fixed number of them from a fixed seed, so that the test repeats).
//   NAME_replay [--write DIRECTORY] [FILE...]      --write only writes the samples, as a corpus to start from
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "support/gguf_samples.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

using tr::test::Bytes;

namespace {

constexpr int kChangesPerSample = 2000;

void run(const Bytes &bytes) {
    // A copy whose end is the end of its allocation, for sanitizers.
    const std::vector<uint8_t> exact(bytes.begin(), bytes.end());
    LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

void change(Bytes &bytes, std::mt19937 &random) {
    const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
    for (size_t n = 1 + below(3); n > 0 && !bytes.empty(); n--) {
        const size_t at = below(bytes.size());
        switch (below(5)) {
        case 0: bytes[at] = static_cast<uint8_t>(random()); break;
        case 1: bytes[at] ^= static_cast<uint8_t>(1u << below(8)); break;
        case 2: bytes.resize(at); break;
        case 3: bytes.insert(bytes.begin() + static_cast<ptrdiff_t>(at), 1 + below(16), static_cast<uint8_t>(random())); break;
        default: { // a run from elsewhere in the file
            const size_t from = below(bytes.size()), length = std::min({below(24), bytes.size() - from, bytes.size() - at});
            std::memmove(bytes.data() + at, bytes.data() + from, length);
        }
        }
    }
}

} // namespace

int main(int argc, char **argv) {
    const auto samples = tr::test::gguf_samples();
    if (argc == 3 && std::strcmp(argv[1], "--write") == 0) {
        std::filesystem::create_directories(argv[2]);
        for (const auto &s : samples) {
            std::ofstream out(std::filesystem::path(argv[2]) / (s.name + ".gguf"), std::ios::binary);
            out.write(reinterpret_cast<const char *>(s.bytes.data()), static_cast<std::streamsize>(s.bytes.size()));
        }
        return 0;
    }
    for (int i = 1; i < argc; i++) {
        std::ifstream in(argv[i], std::ios::binary);
        if (!in) {
            std::fprintf(stderr, "cannot read %s\n", argv[i]);
            return 1;
        }
        run(Bytes(std::istreambuf_iterator<char>(in), {}));
    }
    std::mt19937 random(1);
    for (const auto &s : samples) {
        run(s.bytes);
        for (int i = 0; i < kChangesPerSample; i++) {
            Bytes bytes = s.bytes;
            change(bytes, random);
            run(bytes);
        }
    }
    return 0;
}
