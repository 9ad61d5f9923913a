#include <algorithm>

#include <fmt/format.h>

#include "core/own/cuda_kernel.h"
#include "kernelscope/kernels.h"

namespace kernelscope {
namespace {

constexpr std::int64_t kMostThreads = 1024, kMostSharedBytes = std::int64_t{1} << 20;
constexpr std::array<std::int64_t, 3> kMostBlocks{(std::int64_t{1} << 31) - 1, 65535, 65535};
constexpr std::int64_t kAlignmentOfInterest = 256;

std::int64_t alignmentOf(std::int64_t bytes) { return bytes == 0 ? kAlignmentOfInterest : std::min(kAlignmentOfInterest, bytes & -bytes); }

using Sizes = std::array<std::int64_t, 3>;

Result<Sizes> sizesOf(const char* what, const std::vector<Expression>& expressions, std::span<const NamedNumber> numbers, const Sizes& most) {
    Sizes sizes{1, 1, 1};
    for (std::size_t i = 0; i < expressions.size(); ++i) {
        const Result<std::int64_t> value = expressions[i].value(numbers);
        if (!value) return makeError(ErrorCode::wrong, fmt::format("{}: {}", what, value.error().message));
        if (*value < 1 || *value > most[i]) return makeError(ErrorCode::wrong, fmt::format("{} = {} is {} here, and must be from 1 to {}", what, expressions[i].text(), *value, most[i]));
        sizes[i] = *value;
    }
    return sizes;
}

}  // namespace

Result<LaunchShape> launchShape(const CudaDirectives& directives, std::span<const KernelArgument> arguments, int dtype, std::int64_t multiprocessors) {
    const std::int64_t elementSize = dtype == KS_FLOAT32 ? 4 : 2;
    std::vector<NamedNumber> numbers;
    numbers.reserve(arguments.size() + 4);
    std::int64_t alignment = kAlignmentOfInterest;
    LaunchShape shape;
    const auto& parameters = directives.signature->parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (const auto* number = std::get_if<std::int64_t>(&arguments[i])) {
            numbers.emplace_back(parameters[i].name, *number);
            if (parameters[i].name.ends_with("_stride")) alignment = std::min(alignment, alignmentOf(*number * elementSize));
            if (parameters[i].name == directives.signature->rows && *number == 0) shape.empty = true;
        } else if (const auto* pointer = std::get_if<const void*>(&arguments[i]); pointer && parameters[i].type.find('T') != std::string_view::npos) {
            alignment = std::min(alignment, alignmentOf(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(*pointer))));
        }
    }
    if (shape.empty) return shape;
    numbers.emplace_back("element_size", elementSize);
    numbers.emplace_back("alignment", alignment);
    numbers.emplace_back("multiprocessors", multiprocessors);
    if (directives.requires_) {
        const Result<std::int64_t> met = directives.requires_->value(numbers);
        if (!met) return met.error();
        if (*met == 0) return makeError(ErrorCode::usage, fmt::format("it requires {}, which does not hold here", directives.requires_->text()));
    }
    const Result<Sizes> block = sizesOf("block", directives.block, numbers, {kMostThreads, kMostThreads, 64});
    if (!block) return block.error();
    shape.block = *block;
    const std::int64_t threads = shape.block[0] * shape.block[1] * shape.block[2];
    if (threads > kMostThreads) return makeError(ErrorCode::wrong, fmt::format("a block of {} x {} x {} has more than {} threads", shape.block[0], shape.block[1], shape.block[2], kMostThreads));
    numbers.emplace_back("block", threads);
    const Result<Sizes> grid = sizesOf("grid", directives.grid, numbers, kMostBlocks);
    if (!grid) return grid.error();
    shape.grid = *grid;
    if (directives.shared) {
        const Result<std::int64_t> bytes = directives.shared->value(numbers);
        if (!bytes) return bytes.error();
        if (*bytes < 0 || *bytes > kMostSharedBytes) return makeError(ErrorCode::wrong, fmt::format("shared = {} is {} bytes here", directives.shared->text(), *bytes));
        shape.sharedBytes = *bytes;
    }
    return shape;
}

}  // namespace kernelscope
