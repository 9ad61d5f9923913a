#pragma once
// One cell: an operator at a shape, its rotating buffers, and a call into the library.

#include <memory>
#include <string>

#include "kernels/include/kernelscope/kernels.h"
#include "kernels/tune/device_tools.cuh"

namespace kernelscope::tune {

struct Shape {
    int op = KS_RMS_NORM;
    int dtype = KS_BFLOAT16;
    int64_t rows = 1;
    int64_t hidden = 896;
    int64_t width = 4864;  // silu_mul
    int64_t qHeads = 14;   // rope
    int64_t kvHeads = 2;
    int64_t headDim = 64;

    /// Bytes that a call must read and write, activations only.
    [[nodiscard]] double movedBytes() const;
};

/// How calls follow each other. Cold: each on buffers of its own. Warm: all on one set. Chain: each reads what the one before wrote,
/// weights and other operands are its own.
enum class Pattern { cold, warm, chain };

class Workload {
public:
    virtual ~Workload() = default;
    /// Enqueues call number `index`; returns the library's status.
    virtual int call(Pattern pattern, int index, const ks_launch_options& options, cudaStream_t stream) = 0;
};

/// `sets` buffer sets, filled.
std::unique_ptr<Workload> makeWorkload(const Shape& shape, int sets, cudaStream_t stream);

}  // namespace kernelscope::tune
