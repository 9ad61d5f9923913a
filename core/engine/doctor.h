#pragma once
// What works on the engine's machine: tried, not assumed.

#include <nlohmann/json.hpp>

namespace kernelscope {

/// {"checks": [{check, status, finding, why, fix}]}: libtorch, the kernels' architecture, CUPTI, the GPU's clock, the hub cache, the bundled
/// tokenizer. Status is ok, warning, failed or unavailable. Takes about a second on a GPU.
nlohmann::json examineMachine();

}  // namespace kernelscope
