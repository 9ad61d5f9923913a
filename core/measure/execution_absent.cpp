#include "core/measure/execution.h"

namespace kernelscope {
namespace {
Error absent() { return makeError(ErrorCode::environment, "this engine was built without CUDA"); }
}  // namespace

Result<Executed> executeBehindBusyStream(const Variant&, const Operands&, const Device&, const std::function<void()>&) { return absent(); }
Result<Executed> executeCaptured(const Variant&, const Operands&, const Device&, const std::function<void()>&) { return absent(); }

}  // namespace kernelscope
