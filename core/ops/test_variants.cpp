#include "core/ops/test_variants.h"

#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "core/ops/kernel_call.h"

namespace kernelscope {
namespace {

Variant misbehaving(std::string name, std::string description, std::function<Result<Tensors>(const Operands&)> run) {
    Variant variant;
    variant.name = std::move(name);
    variant.description = std::move(description);
    variant.onCpu = variant.onCuda = true;
    variant.run = std::move(run);
    return variant;
}

Result<Tensors> hang(const Operands& operands) {
    const at::Device device = operands.inputs.front().device();
    if (device.is_cuda()) {
        launchEndlessKernel(currentStream(device));
        return operands.outputs;
    }
    for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
}

Result<Tensors> fault(const Operands& operands) {
    const at::Tensor& x = operands.inputs.front();
    // Aligned, not null, and nobody's: the kernel itself steps on it.
    auto* nowhere = reinterpret_cast<float*>(std::uintptr_t{0x7000'0000'0000});
    const auto function = x.is_cuda() ? &ks_rms_norm : &ks_cpu_rms_norm;
    const int status = function(nowhere, x.data_ptr(), operands.inputs[1].data_ptr(), x.size(0), x.size(1), x.stride(0), x.size(1), 1e-6F,
                                *kernelDtype(x), currentStream(x.device()));
    return answer(status, operands, "test_fault");
}

/// Right, and slower than a short deadline has patience for all its calls together.
Result<Tensors> slow(const Operands& operands) {
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    const at::Tensor& x = operands.inputs.front();
    const auto function = x.is_cuda() ? &ks_rms_norm : &ks_cpu_rms_norm;
    const int status = function(operands.outputs.front().data_ptr(), x.data_ptr(), operands.inputs[1].data_ptr(), x.size(0), x.size(1), x.stride(0),
                                operands.outputs.front().stride(0), static_cast<float>(operands.eps), *kernelDtype(x), currentStream(x.device()));
    return answer(status, operands, "test_slow");
}

}  // namespace

void addTestVariants(OperatorTable& operators) {
    const char* asked = std::getenv("KERNELSCOPE_TEST_VARIANTS");
    if (!asked || std::string_view(asked) != "1") return;
    Operator* op = operators.find("rms_norm");
    op->add(misbehaving("test_crash", "ends the process", [](const Operands&) -> Result<Tensors> { std::abort(); }));
    op->add(misbehaving("test_hang", "never ends", hang));
    op->add(misbehaving("test_slow", "takes its time", slow));
    op->add(misbehaving("test_fault", "writes to an address that does not exist", fault));
}

}  // namespace kernelscope
