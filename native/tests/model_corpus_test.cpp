// Files that are read but make no model, of the corpus that the Go side is tested with too (models/corpus_test.go).
#include "support/check.h"
#include "support/engine.h"
#include "support/gguf_corpus.h"

using namespace tr::test;

namespace {

// What loading says; "" if it works.
std::string load(tr_device *device, const std::string &path) {
    tr_model_params params{};
    params.size = sizeof params;
    tr_model *model = nullptr;
    char err[512] = "";
    const tr_status status = tr_model_load(device, path.c_str(), &params, &model, err, sizeof err);
    const ModelPtr owner(model);
    CHECK((status == TR_OK) == (model != nullptr) && (status == TR_OK) == (err[0] == 0));
    CHECK(status == TR_OK || status == TR_ERR_FORMAT || status == TR_ERR_UNSUPPORTED || status == TR_ERR_IO);
    return err;
}

} // namespace

int main() {
    tr_device_params params{};
    params.size = sizeof params;
    tr_device *raw = nullptr;
    CHECK_EQUAL(TR_OK, tr_device_open(&params, &raw, nullptr, 0));
    const DevicePtr device(raw);
    for (const CorpusCase &c : gguf_corpus()) {
        const std::string error = load(device.get(), c.path), said = c.path + ": " + error;
        if ((c.verdict == "whole") != error.empty()) failed(__FILE__, __LINE__, said);
        for (const std::string &word : c.words) CHECK_CONTAINS(said, word);
    }
    return report();
}
