#include "core/measure/device_rates.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include <ATen/ATen.h>

namespace kernelscope {
namespace {

// Larger than every cache: 2 x 128 MiB on a GPU (L2 of 63 MB on an H200), 2 x 64 MiB on a CPU.
constexpr std::int64_t kCopyBytesGpu = 128LL << 20, kCopyBytesCpu = 64LL << 20;
// Large enough for the library's best kernels, small enough for a CPU without matrix units: 2 n^3 is 0.27 Gflop there and 137 on a GPU.
constexpr std::int64_t kOrderGpu = 4096, kOrderCpu = 512;
constexpr int kRepeats = 6;  // the best counts: what the device can do, not what it does while others use it
constexpr double kPatienceSeconds = 0.5;  // for a CPU that converts a type number by number

template <typename Work>
double bestUs(BorderClock& clock, const Work& work) {
    const auto began = std::chrono::steady_clock::now();
    const auto waited = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count() > kPatienceSeconds; };
    double best = std::numeric_limits<double>::max();
    for (int repeat = 0; repeat <= kRepeats && (repeat < 2 || !waited()); ++repeat) {  // the first warms up
        clock.reset();
        const int begin = clock.mark();
        work();
        const int end = clock.mark();
        clock.wait();
        if (repeat > 0) best = std::min(best, clock.betweenUs(begin, end));
    }
    return best;
}

}  // namespace

double matmulFlopsPerSecond(const Device& device, at::ScalarType dtype) {
    const std::int64_t order = device.isCuda() ? kOrderGpu : kOrderCpu;
    const int calls = device.isCuda() ? 10 : 1;  // beside which a launch is nothing
    try {
        const std::unique_ptr<BorderClock> clock = makeBorderClock(device);
        const at::Tensor factor = at::ones({order, order}, at::TensorOptions().device(device.torch).dtype(dtype));
        at::Tensor product = at::empty_like(factor);
        const auto n = static_cast<double>(order);
        return 2e6 * calls * n * n * n / bestUs(*clock, [&] {
            for (int call = 0; call < calls; ++call) at::mm_out(product, factor, factor);
        });
    } catch (const c10::Error&) {  // a type that the library does not multiply, or no memory
        return 0;
    }
}

DeviceRates measureRates(const Device& device, at::ScalarType dtype) {
    const std::unique_ptr<BorderClock> clock = makeBorderClock(device);
    const at::TensorOptions options = at::TensorOptions().device(device.torch);
    DeviceRates rates;
    try {
        const std::int64_t bytes = device.isCuda() ? kCopyBytesGpu : kCopyBytesCpu;
        const at::Tensor from = at::ones({bytes}, options.dtype(at::kByte));
        at::Tensor to = at::empty_like(from);
        rates.copyBytesPerSecond = 2e6 * static_cast<double>(bytes) / bestUs(*clock, [&] { to.copy_(from); });
    } catch (const c10::Error&) {  // no memory: on a CPU that is no OutOfMemoryError
    }
    rates.matmulFlopsPerSecond = matmulFlopsPerSecond(device, dtype);
    (void)freeBytes(device);  // gives cached memory back
    return rates;
}

}  // namespace kernelscope
