#include "heads/head.h"

#include "base/error.h"

namespace tr::heads {

namespace {

constexpr const char *kArchitecture = "router-head"; // general.architecture, and what keys begin with

struct Kind {
    const char *name; // router-head.kind
    std::unique_ptr<Head> (*load)(const Source &);
};
constexpr Kind kKinds[] = {{"linear", load_linear}, {"mlp", load_mlp}, {"residual", load_residual}};

const Kind &kind_of(std::string_view name) {
    std::string known;
    for (const Kind &k : kKinds) {
        if (name == k.name) return k;
        known += std::string(known.empty() ? "" : ", ") + k.name;
    }
    fail(TR_ERR_UNSUPPORTED, "router-head.kind is %s, which is not supported; this build runs: %s", quoted(name).c_str(), known.c_str());
}

} // namespace

Head::Head(const Source &source) : backend_(source.options.backend), operators_(source.operators) {}

std::unique_ptr<Head> load_head(const Source &source) {
    const gguf::Metadata &m = source.file.contents.metadata();
    const std::string_view architecture = m.string("general.architecture");
    if (architecture != kArchitecture) {
        fail(TR_ERR_UNSUPPORTED, "the file is of architecture %s, not a router head (\"%s\")", quoted(architecture).c_str(), kArchitecture);
    }
    const Kind &kind = kind_of(m.string("router-head.kind"));
    const int32_t n_embd = source.model->shape.n_embd;
    std::unique_ptr<Head> head = kind.load(source);
    if (head->n_embd != n_embd) {
        fail(TR_ERR_ARGUMENT, "the head is for hidden states of %d values, the model's have %d: it was made for another model", head->n_embd, n_embd);
    }
    head->kind = kind.name;
    head->name = m.find_string("general.name").value_or("");
    head->threshold = static_cast<float>(m.find_number("router-head.threshold", 0, 1).value_or(0.5));
    return head;
}

} // namespace tr::heads
