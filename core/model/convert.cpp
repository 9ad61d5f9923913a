#include "core/model/convert.h"

#include <cstring>

#include <ATen/ATen.h>

#include "core/model/parallel.h"

namespace kernelscope {
namespace {

constexpr std::int64_t kGrain = 1 << 18;  // elements a thread: large against starting it

template <typename From, typename To>
void convert(const std::byte* in, To* out, std::int64_t count) {
    parallelRanges(count, kGrain, [=](std::int64_t begin, std::int64_t end) {
        const std::byte* from = in + static_cast<std::size_t>(begin) * sizeof(From);
        if constexpr (std::is_same_v<From, To>) {
            std::memcpy(out + begin, from, static_cast<std::size_t>(end - begin) * sizeof(From));
        } else {
            for (std::int64_t i = begin; i < end; ++i, from += sizeof(From)) {
                From value;
                std::memcpy(&value, from, sizeof value);
                out[i] = static_cast<To>(static_cast<float>(value));
            }
        }
    });
}

template <typename To>
void convertTo(const std::byte* in, std::string_view dtype, To* out, std::int64_t count) {
    if (dtype == "float32") return convert<float>(in, out, count);
    if (dtype == "float16") return convert<at::Half>(in, out, count);
    if (dtype == "bfloat16") return convert<at::BFloat16>(in, out, count);
    TORCH_CHECK(false, "cannot read tensors of type ", dtype);
}

}  // namespace

std::size_t storedElementSize(std::string_view dtype) {
    if (dtype == "float32") return 4;
    if (dtype == "float16" || dtype == "bfloat16") return 2;
    return 0;
}

void convertStored(std::span<const std::byte> bytes, std::string_view dtype, const at::Tensor& out) {
    TORCH_CHECK(out.device().is_cpu() && out.is_contiguous(), "convertStored wants a contiguous CPU tensor");
    TORCH_CHECK(bytes.size() == static_cast<std::size_t>(out.numel()) * storedElementSize(dtype), "convertStored got ",
                bytes.size(), " bytes of ", dtype, " for ", out.numel(), " elements");
    switch (out.scalar_type()) {
        case at::kFloat: return convertTo(bytes.data(), dtype, out.mutable_data_ptr<float>(), out.numel());
        case at::kHalf: return convertTo(bytes.data(), dtype, out.mutable_data_ptr<at::Half>(), out.numel());
        case at::kBFloat16: return convertTo(bytes.data(), dtype, out.mutable_data_ptr<at::BFloat16>(), out.numel());
        default: TORCH_CHECK(false, "a model runs in float32, float16 or bfloat16, not ", out.scalar_type());
    }
}

}  // namespace kernelscope
