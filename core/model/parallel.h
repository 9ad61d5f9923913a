#pragma once
// A loop over a range on as many threads as ATen uses. ATen's own parallel_for runs on one thread in code that is not
// compiled with OpenMP; plain threads need no second OpenMP runtime beside torch's.

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

#include <ATen/Parallel.h>

namespace kernelscope {

/// Calls body(begin, end) on disjoint parts of [0, count), none much shorter than `grain`. body must not throw.
template <typename Body>
void parallelRanges(std::int64_t count, std::int64_t grain, const Body& body) {
    const std::int64_t parts = std::clamp<std::int64_t>(count / grain, 1, at::get_num_threads());
    const auto part = [&](std::int64_t i) { body(count * i / parts, count * (i + 1) / parts); };
    std::vector<std::jthread> threads;
    for (std::int64_t i = 1; i < parts; ++i) threads.emplace_back(part, i);
    part(0);
}

}  // namespace kernelscope
