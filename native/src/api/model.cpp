#include "api/guard.h"
#include "api/handles.h"
#include "arch/registry.h"

using namespace tr::api;

tr_status tr_model_load(tr_device *device, const char *path, const tr_model_params *params, tr_model **out, char *err, size_t err_len) {
    return guarded(err, err_len, [&] {
        check_pointer(out, "out");
        *out = nullptr;
        check_pointer(device, "device");
        check_pointer(path, "path");
        check_struct(params, "tr_model_params");
        constexpr uint32_t kKnown = TR_MODEL_EXACT_FLOAT | TR_MODEL_CHECK_ONLY;
        if (params->flags & ~kKnown) {
            tr::fail(TR_ERR_ARGUMENT, "tr_model_params.flags is 0x%x; this library knows the bits 0x%x", params->flags, kKnown);
        }
        try {
            const tr::gguf::File file(path);
            const Device &d = *device->device;
            d.enter();
            const bool exact_float = params->flags & TR_MODEL_EXACT_FLOAT, check_only = params->flags & TR_MODEL_CHECK_ONLY;
            auto model = tr::arch::load_model(file, {d.backend, *d.pool, exact_float, params->progress, check_only});
            if (!check_only) *out = new tr_model{device->device, std::move(model)};
        } catch (const tr::Error &e) {
            if (e.status() == TR_ERR_IO) throw; // names the path already
            tr::fail(e.status(), "%s: %s", path, e.what());
        }
    });
}

tr_status tr_model_describe(const tr_model *model, tr_model_info *info, char *err, size_t err_len) {
    return guarded(err, err_len, [&] {
        check_pointer(model, "model");
        check_struct(info, "tr_model_info");
        const tr::arch::Model &m = *model->model;
        const tr::arch::Shape &s = m.shape;
        *info = {};
        info->size = sizeof *info;
        info->n_vocab = s.n_vocab;
        info->n_embd = s.n_embd;
        info->n_layer = s.n_layer;
        info->n_head = s.n_head;
        info->n_head_kv = s.n_head_kv;
        info->head_dim = s.head_dim;
        info->n_ctx_train = s.n_ctx_train;
        info->n_params = m.n_params;
        info->weight_bytes = m.weight_bytes;
        info->kv_bytes_per_token = static_cast<uint64_t>(2 * s.n_layer * s.kv_dim()) * sizeof(uint16_t);
        info->architecture = m.architecture.c_str();
        info->name = m.name.c_str();
    });
}

void tr_model_free(tr_model *model) { delete model; }
