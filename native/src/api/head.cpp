#include <atomic>

#include "api/guard.h"
#include "api/handles.h"

using namespace tr::api;

tr_status tr_head_load(tr_model *model, const char *path, tr_head **out, char *err, size_t err_len) {
    return guarded(err, err_len, [&] {
        check_pointer(out, "out");
        *out = nullptr;
        check_pointer(model, "model");
        check_pointer(path, "path");
        try {
            const tr::gguf::File file(path);
            const Device &d = *model->device;
            d.enter();
            auto head = tr::heads::load_head({file, {d.backend, *d.pool, false, nullptr}, d.head_operators, model->model});
            static std::atomic<uint64_t> last_id = 0;
            *out = new tr_head{model->device, model->model, std::move(head), ++last_id, {}};
        } catch (const tr::Error &e) {
            if (e.status() == TR_ERR_IO) throw; // names the path already
            tr::fail(e.status(), "%s: %s", path, e.what());
        }
    });
}

tr_status tr_head_describe(const tr_head *head, tr_head_info *info, char *err, size_t err_len) {
    return guarded(err, err_len, [&] {
        check_pointer(head, "head");
        check_struct(info, "tr_head_info");
        const tr::heads::Head &h = *head->head;
        *info = {};
        info->size = sizeof *info;
        info->n_top = h.n_top;
        info->needs_token = h.needs_token;
        info->threshold = h.threshold;
        info->n_params = h.n_params;
        info->weight_bytes = h.weight_bytes;
        info->kind = h.kind.c_str();
        info->name = h.name.c_str();
    });
}

void tr_head_free(tr_head *head) { delete head; }
