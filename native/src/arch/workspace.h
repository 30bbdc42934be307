#pragma once
#include "arch/model.h"

namespace tr::arch {

struct WorkspaceSize {
    int32_t n_pages, max_columns, max_output_columns;
    cpu::KvType kv_type;
};

// Allocates, in the backend's memory, and fills what does not change: the tables of the rotary embedding. Throws Error(TR_ERR_NO_MEMORY).
std::unique_ptr<Workspace> make_workspace(const Model &model, const WorkspaceSize &size, const Backend &backend, cpu::Pool &pool);

} // namespace tr::arch
