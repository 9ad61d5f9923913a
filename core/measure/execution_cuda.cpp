#include "core/measure/execution.h"

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime.h>
#include <fmt/format.h>

#include "core/device/cuda_marks.h"

namespace kernelscope {
namespace {

// A call takes microseconds: what does not wait for this has long ended when the inputs arrive.
constexpr int kHoldUs = 2'000;

Error firstLine(std::string text, ErrorCode code) {
    text.resize(std::min(text.size(), text.find('\n')));
    return makeError(code, std::move(text));
}

}  // namespace

Result<Executed> executeBehindBusyStream(const Variant& variant, const Operands& operands, const Device& device, const std::function<void()>& fill) {
    if (const Result<void> idle = synchronize(device); !idle) return idle.error();
    const c10::cuda::CUDAStream side = c10::cuda::getStreamFromPool(/*isHighPriority=*/true, device.torch.index());
    Result<Tensors> results = Tensors{};
    {
        const c10::cuda::CUDAStreamGuard guard(side);
        C10_CUDA_CHECK(cuda::spin(side.stream(), kHoldUs));
        fill();
        results = callVariant(variant, operands);
        if (const Result<void> healthy = synchronize(device); !healthy) return healthy.error();
    }
    // What it may have put on another stream.
    if (const cudaError_t status = cudaDeviceSynchronize(); status != cudaSuccess) {
        return makeError(ErrorCode::environment, fmt::format("The GPU reported a fault: {}", cudaGetErrorString(status)));
    }
    if (!results) return results.error();
    return Executed{std::move(*results), nullptr};
}

Result<Executed> executeCaptured(const Variant& variant, const Operands& operands, const Device& device, const std::function<void()>& fill) {
    // Once outside: the first call loads modules and plans, which a capture does not allow.
    fill();
    if (Result<Tensors> first = callVariant(variant, operands); !first) return first.error();
    if (const Result<void> healthy = synchronize(device); !healthy) return healthy.error();

    auto graph = std::make_shared<at::cuda::CUDAGraph>();
    Result<Tensors> results = Tensors{};
    try {
        graph->capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
        results = callVariant(variant, operands);
        graph->capture_end();
    } catch (const c10::Error& error) {
        try {
            graph->capture_end();  // or the stream would stay in capture mode
        } catch (const c10::Error&) {
        }
        (void)cudaGetLastError();
        Error words = firstLine(error.what_without_backtrace(), ErrorCode::wrong);
        words.message = "cannot be captured in a CUDA graph: " + words.message;
        return words;
    }
    if (!results) return makeError(ErrorCode::wrong, "cannot be captured in a CUDA graph: " + results.error().message);
    try {
        for (int replay = 0; replay < 2; ++replay) {
            fill();
            graph->replay();
            if (const Result<void> healthy = synchronize(device); !healthy) return healthy.error();
        }
    } catch (const c10::Error& error) {
        return firstLine(error.what_without_backtrace(), ErrorCode::environment);
    }
    return Executed{std::move(*results), graph};
}

}  // namespace kernelscope
