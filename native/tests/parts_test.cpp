// A model in parts answers as the same model in one file; and one whose file is cut short while it is loaded is an error.
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <unistd.h>

#include "support/check.h"
#include "support/engine.h"
#include "support/tiny_model.h"

using namespace tr;
using namespace tr::test;

namespace {

class Directory {
public:
    Directory() {
        const char *base = std::getenv("TMPDIR");
        path_ = std::string(base ? base : "/tmp") + "/tokenrouter-XXXXXX";
        if (!mkdtemp(path_.data())) throw std::runtime_error("cannot make " + path_);
    }
    ~Directory() { std::filesystem::remove_all(path_); }
    std::string write(const std::string &name, const Bytes &bytes) const {
        const std::string path = path_ + "/" + name;
        std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
        return path;
    }

private:
    std::string path_;
};

// Writes the model in `count` parts and gives the path of the first.
std::string write_parts(const Directory &directory, const GgufWriter &whole, uint16_t count) {
    std::string first;
    const size_t n = whole.tensors.size();
    for (uint16_t i = 0; i < count; i++) {
        GgufWriter part = i == 0 ? whole : GgufWriter{};
        part.scalar("split.no", gguf::ValueType::U16, i);
        part.scalar("split.count", gguf::ValueType::U16, count);
        part.scalar("split.tensors.count", gguf::ValueType::I32, static_cast<int32_t>(n));
        const auto begin = whole.tensors.begin();
        part.tensors.assign(begin + static_cast<ptrdiff_t>(i * n / count), begin + static_cast<ptrdiff_t>((i + 1) * n / count));
        const std::string path = directory.write(format("tiny-%05d-of-%05d.gguf", i + 1, count), part.bytes());
        if (i == 0) first = path;
    }
    return first;
}

void test_same_answers() {
    TinyModel tiny;
    tiny.type = mixed_types;
    const GgufWriter whole = tiny.writer();
    const Directory directory;
    const Engine one(whole.bytes());
    const std::vector<int32_t> tokens = random_tokens(70, one.info.n_vocab, 3);
    const std::vector<Extend> extends = {{0, tokens, upto(3), {0, 35, 69}}};
    const std::vector<Answer> expected = step(one, extends);
    for (const uint16_t count : {2, 5, 27}) { // of 27 tensors
        const Engine parts(write_parts(directory, whole, count).c_str());
        CHECK(step(parts, extends) == expected);
        CHECK_EQUAL(one.info.n_params, parts.info.n_params);
        CHECK_EQUAL(one.info.weight_bytes, parts.info.weight_bytes);
    }
}

// The file is cut at a moment that is not the test's to choose: the model is whole or refused, and the process lives.
void test_cut_while_loading() {
    TinyModel tiny;
    tiny.n_vocab = 20000;
    tiny.n_layer = 4;
    const Bytes bytes = tiny.bytes();
    tr_device_params device_params{};
    device_params.size = sizeof device_params;
    tr_device *device = nullptr;
    CHECK_EQUAL(TR_OK, tr_device_open(&device_params, &device, nullptr, 0));
    const DevicePtr owner(device);
    int refused = 0;
    for (int i = 0; i < 4; i++) {
        const TemporaryFile file(bytes);
        int32_t progress = -1; // finish() stores 0 before the first matrix is read
        std::atomic<bool> done = false;
        std::thread cutter([&] {
            while (!done && std::atomic_ref<int32_t>(progress).load() < 0) std::this_thread::yield();
            CHECK_EQUAL(0, truncate(file.path(), 4096));
        });
        tr_model_params params{};
        params.size = sizeof params;
        params.progress = &progress;
        tr_model *model = nullptr;
        char err[512] = "";
        const tr_status status = tr_model_load(device, file.path(), &params, &model, err, sizeof err);
        done = true;
        cutter.join();
        const ModelPtr model_owner(model);
        CHECK((status == TR_OK) == (model != nullptr));
        if (status == TR_OK) continue;
        refused++;
        CHECK_EQUAL(TR_ERR_IO, status);
        CHECK_CONTAINS(err, "has become shorter while it was read");
    }
    CHECK(refused > 0);
}

} // namespace

int main() {
    test_same_answers();
    test_cut_while_loading();
    return report();
}
