#include "core/ops/kernel_call.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/ops/torch_threads.h"

namespace kernelscope {
namespace {

std::string layoutOf(const at::Tensor& tensor) {
    return fmt::format("[{}] with strides [{}]", fmt::join(tensor.sizes(), ", "), fmt::join(tensor.strides(), ", "));
}

}  // namespace

Result<RowView> rowView(const at::Tensor& tensor, const char* name, std::int64_t rows, std::int64_t width) {
    RowView view;
    view.data = tensor.data_ptr();
    view.rows = tensor.size(0);
    view.width = 1;
    for (std::int64_t dim = tensor.dim() - 1; dim > 0; --dim) {
        if (tensor.size(dim) > 1 && tensor.stride(dim) != view.width && rows > 0) {
            return makeError(ErrorCode::usage, fmt::format("{} is {}: elements within a row must lie side by side", name, layoutOf(tensor)));
        }
        view.width *= tensor.size(dim);
    }
    view.stride = tensor.stride(0);
    if (view.rows != rows || view.width != width) {
        return makeError(ErrorCode::usage, fmt::format("{} is {}, but the call needs {} rows of {}", name, layoutOf(tensor), rows, width));
    }
    return view;
}

Result<int> kernelDtype(const at::Tensor& tensor) {
    switch (tensor.scalar_type()) {
        case at::kFloat: return static_cast<int>(KS_FLOAT32);
        case at::kHalf: return static_cast<int>(KS_FLOAT16);
        case at::kBFloat16: return static_cast<int>(KS_BFLOAT16);
        default: return makeError(ErrorCode::usage, fmt::format("type {} is not one of float32, float16, bfloat16", at::toString(tensor.scalar_type())));
    }
}

Result<Tensors> answer(int status, const Operands& operands, const std::string& op) {
    if (status == KS_OK) return operands.outputs;
    const bool driver = status >= KS_ERROR_CUDA || status == KS_ERROR_NO_CUDA;
    return makeError(driver ? ErrorCode::environment : ErrorCode::usage, fmt::format("{}: {}", op, ks_status_string(status)));
}

Result<Tensors> answer(const Result<void>& launched, const Operands& operands, const std::string& op) {
    if (launched) return operands.outputs;
    return makeError(launched.error().code, op + ": " + launched.error().message, launched.error().advice);
}

at::Tensor asRows(const at::Tensor& x) { return x.dim() == 2 ? x : x.reshape({-1, x.size(-1)}); }

void throwRefusal(const std::string& op, const std::string& variant, const Error& error) {
    TORCH_CHECK(false, op, "=", variant, " refused its operands: ", error.message);
    std::abort();  // TORCH_CHECK(false) has thrown
}

Variant describeKernel(const KernelEntry& entry) {
    Variant variant;
    variant.name = entry.variant;
    variant.description = entry.description;
    variant.onCpu = entry.device == KernelDevice::cpu;
    variant.onCuda = entry.device == KernelDevice::cuda;
    variant.roundsLikeNative = true;
    variant.programmatic = variant.onCuda && entry.variant == "fused";
    return variant;
}

Variant nativeVariant(const Operator& op, std::string description) {
    Variant variant = ownVariant("native", std::move(description), [&op](const Operands& operands) { return op.native(operands); });
    variant.roundsLikeNative = true;
    return variant;
}

Variant ownVariant(std::string name, std::string description, std::function<Tensors(const Operands&)> make) {
    Variant variant;
    variant.name = std::move(name);
    variant.description = std::move(description);
    variant.onCpu = variant.onCuda = true;
    variant.ownOutputs = true;
    variant.run = [make = std::move(make)](const Operands& operands) -> Result<Tensors> { return make(operands); };
    return variant;
}

void addKernelVariants(Operator& op, const KernelTable& kernels) {
    for (const KernelEntry& entry : kernels.entries()) {
        if (entry.op != op.name()) continue;
        KernelEntry ours = entry;
        ours.function = onTorchThreads(entry.function);
        Result<Variant> made = op.fromKernel(ours);
        if (!made) continue;  // an entry of this name with another operator's function: find() does not offer it either
        const Variant* other = op.find(made->name);
        if (!other) {
            op.add(std::move(*made));
            continue;
        }
        // The same variant for the other device: one that looks where its operands are.
        Variant both = *other;
        both.onCpu = both.onCpu || made->onCpu;
        both.onCuda = both.onCuda || made->onCuda;
        both.programmatic = both.programmatic || made->programmatic;
        both.run = [onCpu = made->onCpu ? made->run : other->run, onCuda = made->onCuda ? made->run : other->run](const Operands& operands) {
            return operands.inputs.front().is_cuda() ? onCuda(operands) : onCpu(operands);
        };
        op.replace(std::move(both));
    }
}

}  // namespace kernelscope
