#include "core/measure/matmul_rate.h"

#include <algorithm>
#include <chrono>

#include <ATen/ATen.h>

namespace kernelscope {

double matmulFlopsPerSecond(const Device& device, at::ScalarType dtype) {
    // On a GPU large enough to fill it, on a CPU small enough to end soon in a type that it converts one by one.
    const std::int64_t size = device.isCuda() ? 4096 : 512;
    // Together they last some milliseconds, beside which the clock and a launch are nothing.
    const int calls = device.isCuda() ? 10 : 1;
    constexpr int kRepeats = 5;
    constexpr double kPatienceSeconds = 0.5;
    using Clock = std::chrono::steady_clock;
    const auto seconds = [](Clock::time_point since) { return std::chrono::duration<double>(Clock::now() - since).count(); };
    try {
        const auto options = at::TensorOptions().dtype(dtype).device(device.torch);
        const at::Tensor left = at::full({size, size}, 0.5, options), right = at::full({size, size}, 0.25, options);
        at::Tensor product = at::mm(left, right);
        double best = 0;
        const Clock::time_point start = Clock::now();
        for (int repeat = 0; repeat < kRepeats && seconds(start) < kPatienceSeconds; ++repeat) {
            if (!synchronize(device)) return 0;
            const Clock::time_point begin = Clock::now();
            for (int call = 0; call < calls; ++call) at::mm_out(product, left, right);
            if (!synchronize(device)) return 0;
            best = std::max(best, 2.0 * static_cast<double>(calls) * static_cast<double>(size * size * size) / seconds(begin));
        }
        return best;
    } catch (const c10::Error&) {  // a type that the library does not multiply, or no memory
        return 0;
    }
}

}  // namespace kernelscope
