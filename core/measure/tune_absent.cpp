// A build without CUDA has nothing to tune.

#include "core/measure/tune.h"

namespace kernelscope {

std::vector<TuneCell> tuneCells(const std::string&, const std::string&) { return {}; }

Result<std::vector<TuneRow>> tuneCell(const TuneCell&, bool, const Device&, std::stop_token) {
    return makeError(ErrorCode::environment, "this build has no CUDA");
}

}  // namespace kernelscope
