#pragma once
// What one forward pass has to do whatever kernels do it: a model of bytes and operations, from shapes alone. No torch here.

#include <cstdint>
#include <vector>

#include "core/model/config.h"
#include "core/model/hooks.h"

namespace kernelscope {

struct PassShape {
    std::int64_t batch = 1;
    std::int64_t tokens = 1;        ///< new ones, a row of the batch
    std::int64_t past = 0;          ///< positions that the cache already holds
    std::int64_t elementBytes = 2;  ///< of the model's type
    bool lastOnly = true;           ///< logits of the last position alone
};

/// Work of all modules of a type in one pass: each weight, input, output and cache entry moved once, between memory and a kernel that keeps everything
/// else to itself; multiply and add count as two operations.
struct TypeWork {
    ModuleType type = ModuleType::none;
    double bytes = 0;
    double flops = 0;
};

/// One entry a type, in the order of a pass.
std::vector<TypeWork> passWork(const ModelConfig& config, const PassShape& shape);

}  // namespace kernelscope
