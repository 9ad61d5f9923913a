#pragma once
// Sharing rows out to threads.

#include <cstdint>
#include <type_traits>

#include "kernels/include/kernelscope/kernels.h"

namespace kernelscope::kernels::cpu {

/// The library's own threads, one for each processor beside the caller, started with the first call that is large enough.
const ks_executor& ownThreads();

/// Elements that are worth a thread: below this a second one costs more than it saves.
constexpr int64_t kElementsPerThread = 24 * 1024;

/// Calls body(begin, end) so that the ranges cover 0..rows-1, in the threads of `executor` (null: our own) where there is work for them.
template <class Body>
void forRows(int64_t rows, int64_t elementsPerRow, const ks_executor* executor, Body body) {
    const int64_t elements = rows * elementsPerRow;
    if (rows <= 1 || elements < 2 * kElementsPerThread) {
        body(int64_t{0}, rows);
        return;
    }
    const ks_executor& threads = executor != nullptr ? *executor : ownThreads();
    // A few pieces a thread, so that one that starts late does less.
    const int64_t most = elements / kElementsPerThread;
    int64_t pieces = threads.threads <= 1 ? 1 : 4 * threads.threads;
    pieces = pieces < most ? pieces : most;
    pieces = pieces < rows ? pieces : rows;
    if (pieces <= 1) {
        body(int64_t{0}, rows);
        return;
    }
    struct Job {
        Body* body;
        int64_t rows;
        int64_t pieces;
    } job{&body, rows, pieces};
    threads.run(
        threads.self, pieces,
        [](void* self, int64_t index) {
            const Job& job = *static_cast<Job*>(self);
            const int64_t base = job.rows / job.pieces;
            const int64_t extra = job.rows % job.pieces;
            const int64_t begin = index * base + (index < extra ? index : extra);
            (*job.body)(begin, begin + base + (index < extra ? 1 : 0));
        },
        &job);
}

}  // namespace kernelscope::kernels::cpu
