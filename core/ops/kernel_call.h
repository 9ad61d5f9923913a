#pragma once
// From tensors to the C ABI: addresses and strides in, a status out in words.

#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

#include <ATen/core/Tensor.h>

#include "core/ops/operator.h"
#include "core/records/result.h"

namespace kernelscope {

/// The stream that torch enqueues on now, as the C ABI takes it; null for the CPU.
void* currentStream(at::Device device);

/// [rows, ...] as the kernels see it: one row stride, everything within a row contiguous.
struct RowView {
    void* data = nullptr;
    std::int64_t rows = 0, width = 0, stride = 0;
};

/// Errors: usage, naming the operand, when its rows are not contiguous within. `rows` and `width` other than given are refused too.
Result<RowView> rowView(const at::Tensor& tensor, const char* name, std::int64_t rows, std::int64_t width);

/// ks_dtype of a tensor's type. Errors: usage for any but the three.
Result<int> kernelDtype(const at::Tensor& tensor);

/// The status as a result: usage where the kernel refused its arguments, environment where the driver did.
Result<Tensors> answer(int status, const Operands& operands, const std::string& op);
Result<Tensors> answer(const Result<void>& launched, const Operands& operands, const std::string& op);

/// Calls a launch as if it were a function of the C ABI.
class LaunchCall {
public:
    explicit LaunchCall(KernelLaunch launch) : m_launch(std::move(launch)) {}

    template <typename... Arguments>
    Result<void> operator()(Arguments... arguments) const {
        return launch(std::tuple(arguments...), std::make_index_sequence<sizeof...(Arguments) - 2>());
    }

private:
    template <typename Tuple, std::size_t... Index>
    Result<void> launch(const Tuple& all, std::index_sequence<Index...>) const {
        const std::array<KernelArgument, sizeof...(Index)> list{packed(std::get<Index>(all))...};
        return m_launch(list, std::get<sizeof...(Index)>(all), std::get<sizeof...(Index) + 1>(all));
    }
    static KernelArgument packed(const void* pointer) { return pointer; }
    static KernelArgument packed(std::int64_t number) { return number; }
    static KernelArgument packed(float number) { return number; }

    KernelLaunch m_launch;
};

/// x as rows: itself where it is [rows, hidden], else a view (or, where there is none, a copy) of that shape.
at::Tensor asRows(const at::Tensor& x);

/// The refusal inside a model's pass, where there is nobody to hand an Error to: throws c10::Error in words.
[[noreturn]] void throwRefusal(const std::string& op, const std::string& variant, const Error& error);

/// The parts of a variant that do not depend on the operator.
Variant describeKernel(const KernelEntry& entry);
Variant nativeVariant(const Operator& op, std::string description);
/// One that makes its own results with torch, on both devices.
Variant ownVariant(std::string name, std::string description, std::function<Tensors(const Operands&)> make);

/// Kernels of the table for this operator as variants, one for each name, CPU and CUDA forms merged.
void addKernelVariants(Operator& op, const KernelTable& kernels);

}  // namespace kernelscope
