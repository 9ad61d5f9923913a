#include "core/measure/memory_need.h"

#include <algorithm>

#include <fmt/format.h>

namespace kernelscope {
namespace {

// Float32 and float64 temporaries of the native sequence, an element of the result: up to four at a time.
constexpr double kTemporaryBytes = 16;
// Native, other order and oracle of a shape that is small enough to keep them (references.cpp).
constexpr double kReferenceBytes = 24, kMostElementsKept = 24 << 20;
// Below this nobody runs out, and asking a GPU costs its cache of freed blocks.
constexpr std::int64_t kWorthAsking = 1LL << 30;
// What the rest of the process and of the machine may take meanwhile.
constexpr double kUsable = 0.9;

struct Sizes {
    double operands, elements;
};

Sizes sizesOf(const Operator& op, const OperatorShape& shape, at::ScalarType dtype) {
    const double bytes = op.work(shape, dtype).bytes;
    return {bytes, bytes / static_cast<double>(c10::elementSize(dtype)) / 2};  // an element is read and written at least
}

double gib(double bytes) { return bytes / (1LL << 30); }

}  // namespace

std::int64_t bytesToValidate(const Operator& op, const OperatorShape& shape, at::ScalarType dtype) {
    const Sizes sizes = sizesOf(op, shape, dtype);
    return static_cast<std::int64_t>(2.5 * sizes.operands + kTemporaryBytes * sizes.elements + kReferenceBytes * std::min(sizes.elements, kMostElementsKept));
}

std::int64_t bytesToTime(const Operator& op, const OperatorShape& shape, at::ScalarType dtype, std::int64_t variants) {
    const Sizes sizes = sizesOf(op, shape, dtype);
    return static_cast<std::int64_t>(static_cast<double>(1 + variants) * sizes.operands + kTemporaryBytes * sizes.elements);
}

std::optional<std::string> misfit(std::int64_t neededBytes, const Device& device) {
    if (neededBytes < kWorthAsking) return std::nullopt;
    const Result<std::int64_t> free = freeBytes(device);
    if (!free || static_cast<double>(neededBytes) <= kUsable * static_cast<double>(*free)) return std::nullopt;
    return fmt::format("too large for the memory of {}: {:.1f} GiB ({} bytes) needed, {:.1f} GiB ({} bytes) free", device.info.name, gib(static_cast<double>(neededBytes)),
                       neededBytes, gib(static_cast<double>(*free)), *free);
}

}  // namespace kernelscope
