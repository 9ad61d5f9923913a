#pragma once
// What the C functions ks_config_* and ks_choose need to know of each operator's configurations.

#include <string_view>
#include <vector>

#include "kernels/cuda/choice.h"

namespace kernelscope::kernels::cuda {

struct ConfigList {
    std::vector<std::string_view> names;  // each ends with a zero byte: they come from literals
    const Grid* programmatic = nullptr;
    const Grid* plain = nullptr;
};

template <class Configs>
ConfigList listOf(const Configs& configs, const Grid& programmatic, const Grid& plain) {
    ConfigList list{{}, &programmatic, &plain};
    for (const auto& config : configs) list.names.push_back(config.name);
    return list;
}

ConfigList rmsNormConfigs();
ConfigList addRmsNormConfigs();
ConfigList siluMulConfigs();
ConfigList ropeConfigs();

}  // namespace kernelscope::kernels::cuda
