// Compiled with OpenMP, and linked with the runtime that libtorch brings: the only file that is.

#include <atomic>
#include <cstdint>

#include <omp.h>

#include "kernelscope/kernels.h"

namespace kernelscope {
namespace {

void runOnTeam(void*, int64_t count, void (*body)(void*, int64_t), void* self) {
    std::atomic<int64_t> next{0};
    const auto takePieces = [&] {
        for (int64_t piece = next.fetch_add(1, std::memory_order_relaxed); piece < count; piece = next.fetch_add(1, std::memory_order_relaxed)) body(self, piece);
    };
    if (omp_in_parallel() != 0) return takePieces();
#pragma omp parallel
    takePieces();
}

}  // namespace

const ks_executor* torchThreads();  // core/model/parallel.h, which needs ATen

const ks_executor* torchThreads() {
    // How many there are is the calling thread's setting, which at::set_num_threads changes.
    thread_local ks_executor executor{&runOnTeam, nullptr, 1};
    executor.threads = omp_get_max_threads();
    return &executor;
}

}  // namespace kernelscope
