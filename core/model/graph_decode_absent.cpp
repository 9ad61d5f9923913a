#include "core/model/graph_decode.h"

namespace kernelscope {

Result<std::unique_ptr<DecodeStep>> captureDecodeStep(Generator&, std::int64_t) {
    return makeError(ErrorCode::environment, "this build has no CUDA, so there is no graph mode", "use --mode eager, or a build with CUDA");
}

}  // namespace kernelscope
