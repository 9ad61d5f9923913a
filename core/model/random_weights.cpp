#include "core/model/random_weights.h"

#include <ATen/ATen.h>

#include "core/model/counter_hash.h"
#include "core/model/parallel.h"

namespace kernelscope {
namespace {

// Four lanes of 16 bits, each uniform on 0..65535. Integers up to here and one rounding after, so no two machines differ.
inline std::int32_t centredSum(std::uint64_t key, std::uint64_t index) {
    const std::uint64_t bits = counterHash(key, index);
    const auto lane = [bits](int i) { return static_cast<std::int32_t>((bits >> (16 * i)) & 0xFFFF); };
    return lane(0) + lane(1) + lane(2) + lane(3) - 2 * 65535;
}

constexpr double kSumDeviation = 37837.23;  // sqrt(4 (65536^2 - 1) / 12)
constexpr std::int64_t kGrain = 1 << 18;    // elements a thread: a millisecond of work, large against starting it

template <typename T>
void fill(T* out, std::int64_t count, const RandomDistribution& distribution, std::uint64_t key, std::uint64_t first) {
    parallelRanges(count, kGrain, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const auto n = static_cast<float>(centredSum(key, first + static_cast<std::uint64_t>(i)));
            out[i] = static_cast<T>(distribution.mean + distribution.step * n);
        }
    });
}

}  // namespace

RandomDistribution distributionOf(std::string_view tensorName) {
    // A power of two as step makes 1 + step * n exact in float32 (n has 18 bits), fused multiply-add or not.
    if (tensorName.ends_with("norm.weight")) return {1.0F, 1.0F / (1 << 19)};
    return {0.0F, static_cast<float>(0.02 / kSumDeviation)};
}

float randomValue(const RandomDistribution& distribution, std::uint64_t seed, std::uint64_t tensor, std::uint64_t index) {
    return distribution.mean + distribution.step * static_cast<float>(centredSum(counterKey(seed, tensor), index));
}

void fillRandom(const at::Tensor& out, const RandomDistribution& distribution, std::uint64_t seed, std::uint64_t tensor,
                std::uint64_t first) {
    TORCH_CHECK(out.device().is_cpu() && out.is_contiguous(), "fillRandom wants a contiguous CPU tensor");
    const std::uint64_t key = counterKey(seed, tensor);
    switch (out.scalar_type()) {
        case at::kFloat: return fill(out.mutable_data_ptr<float>(), out.numel(), distribution, key, first);
        case at::kHalf: return fill(out.mutable_data_ptr<at::Half>(), out.numel(), distribution, key, first);
        case at::kBFloat16: return fill(out.mutable_data_ptr<at::BFloat16>(), out.numel(), distribution, key, first);
        default: TORCH_CHECK(false, "random weights are float32, float16 or bfloat16, not ", out.scalar_type());
    }
}

}  // namespace kernelscope
