#include "core/measure/execution.h"

#include <c10/util/Exception.h>

namespace kernelscope {

Result<Tensors> callVariant(const Variant& variant, const Operands& operands) {
    try {
        return variant.run(operands);
    } catch (const c10::OutOfMemoryError&) {
        throw;
    } catch (const c10::Error& error) {
        std::string text = error.what_without_backtrace();
        text.resize(std::min(text.size(), text.find('\n')));
        return makeError(ErrorCode::usage, text);
    }
}

Result<Executed> execute(const Variant& variant, const Operands& operands, Execution how, const Device& device, const std::function<void()>& fill) {
    if (how == Execution::busyStream) return executeBehindBusyStream(variant, operands, device, fill);
    if (how == Execution::captured) return executeCaptured(variant, operands, device, fill);
    fill();
    Result<Tensors> results = callVariant(variant, operands);
    if (const Result<void> healthy = synchronize(device); !healthy) return healthy.error();
    if (!results) return results.error();
    return Executed{std::move(*results), nullptr};
}

}  // namespace kernelscope
