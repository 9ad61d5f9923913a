#pragma once
// A loop over a range on the threads that torch's operators run on. ATen's own parallel_for runs on one thread in code that is not
// compiled with OpenMP; threads of our own would wait for torch's, which keep spinning for a while after a loop.

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

#include <ATen/Parallel.h>

#include "kernelscope/kernels.h"

namespace kernelscope {

/// The threads of the OpenMP runtime that libtorch is linked with; null where it has none.
const ks_executor* torchThreads();

/// Calls body(begin, end) on disjoint parts of [0, count), none much shorter than `grain`. body must not throw.
template <typename Body>
void parallelRanges(std::int64_t count, std::int64_t grain, const Body& body) {
    const std::int64_t parts = std::clamp<std::int64_t>(count / grain, 1, at::get_num_threads());
    const auto part = [&](std::int64_t i) { body(count * i / parts, count * (i + 1) / parts); };
    if (parts == 1) return part(0);
    if (const ks_executor* threads = torchThreads()) {
        using Part = decltype(part);
        threads->run(threads->self, parts, [](void* self, std::int64_t i) { (*static_cast<Part*>(self))(i); }, const_cast<void*>(static_cast<const void*>(&part)));
        return;
    }
    std::vector<std::jthread> own;
    for (std::int64_t i = 1; i < parts; ++i) own.emplace_back(part, i);
    part(0);
}

}  // namespace kernelscope
