// Runs a fuzz target without libFuzzer: over the files and directories named on the command line, over the shared corpus of
// GGUF files, and over random changes of it (a fixed number of them from a fixed seed, so that the test repeats).
//   NAME_replay [FILE | DIRECTORY]...
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <random>

#include "support/gguf_corpus.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

using tr::test::Bytes;

namespace {

constexpr int kChangesPerSample = 300;

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
    for (int i = 1; i < argc; i++) {
        const std::filesystem::path path = argv[i];
        if (!std::filesystem::is_directory(path)) {
            run(tr::test::read_file(path));
            continue;
        }
        for (const auto &entry : std::filesystem::directory_iterator(path)) run(tr::test::read_file(entry.path()));
    }
    std::mt19937 random(1);
    for (const auto &c : tr::test::gguf_corpus()) {
        const Bytes whole = tr::test::read_file(c.path);
        run(whole);
        for (int i = 0; i < kChangesPerSample; i++) {
            Bytes bytes = whole;
            change(bytes, random);
            run(bytes);
        }
    }
    return 0;
}
