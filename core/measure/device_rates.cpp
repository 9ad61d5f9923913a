#include "core/measure/device_rates.h"

#include <algorithm>
#include <limits>

#include <ATen/ATen.h>

namespace kernelscope {
namespace {

// Larger than every cache: 2 x 128 MiB on a GPU (L2 of 63 MB on an H200), 2 x 64 MiB on a CPU.
constexpr std::int64_t kCopyBytesGpu = 128LL << 20, kCopyBytesCpu = 64LL << 20;
// Large enough for the library's best kernels, small enough for a CPU without matrix units: 2 n^3 is 0.27 Gflop there and 137 on a GPU.
constexpr std::int64_t kOrderGpu = 4096, kOrderCpu = 512;
constexpr int kRepeats = 6;  // the best counts: what the device can do, not what it does while others use it

template <typename Work>
double bestUs(BorderClock& clock, const Work& work) {
    double best = std::numeric_limits<double>::max();
    for (int repeat = 0; repeat <= kRepeats; ++repeat) {
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

DeviceRates measureRates(const Device& device, at::ScalarType dtype) {
    const std::unique_ptr<BorderClock> clock = makeBorderClock(device);
    const at::TensorOptions options = at::TensorOptions().device(device.torch);
    DeviceRates rates;
    try {
        const std::int64_t bytes = device.isCuda() ? kCopyBytesGpu : kCopyBytesCpu;
        const at::Tensor from = at::ones({bytes}, options.dtype(at::kByte));
        at::Tensor to = at::empty_like(from);
        rates.copyBytesPerSecond = 2e6 * static_cast<double>(bytes) / bestUs(*clock, [&] { to.copy_(from); });
    } catch (const c10::OutOfMemoryError&) {
    }
    try {
        const std::int64_t order = device.isCuda() ? kOrderGpu : kOrderCpu;
        const at::Tensor a = at::ones({order, order}, options.dtype(dtype));
        at::Tensor product = at::empty_like(a);
        const auto n = static_cast<double>(order);
        rates.matmulFlopsPerSecond = 2e6 * n * n * n / bestUs(*clock, [&] { at::mm_out(product, a, a); });
    } catch (const c10::OutOfMemoryError&) {
    }
    (void)freeBytes(device);  // gives cached memory back
    return rates;
}

}  // namespace kernelscope
