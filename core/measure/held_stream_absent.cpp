#include "core/measure/held_stream.h"

namespace kernelscope {

Result<GraphProfile> measureHeldStream(const Pass&, const std::vector<ModuleInfo>&, Hooks&, const HeldStreamOptions&,
                                       const std::function<void(std::int64_t, std::int64_t)>&, std::stop_token) {
    return makeError(ErrorCode::environment, "This engine was built without CUDA: no GPU time");
}

}  // namespace kernelscope
