#include "core/measure/graph_profile.h"

namespace kernelscope {

Result<GraphProfile> measureGraph(const Pass&, const std::vector<ModuleInfo>&, Hooks&, const Device&, const GraphProfileOptions&,
                                  const std::function<void(std::int64_t, std::int64_t)>&, std::stop_token) {
    return makeError(ErrorCode::environment, "This engine was built without CUDA: no GPU time");
}

}  // namespace kernelscope
