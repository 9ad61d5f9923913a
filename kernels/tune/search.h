#pragma once
// The quickest configuration at a shape: measures those that suit it cold, then settings around the best, then all three patterns.

#include <functional>
#include <span>
#include <vector>

#include "kernels/tune/measure.h"

namespace kernelscope::tune {

/// A configuration with settings at a shape, measured. Microseconds a call; negative where not measured (too large to be warm).
struct Measured {
    ks_launch_options options = KS_LAUNCH_OPTIONS_INIT;
    double coldUs = -1, warmUs = -1, chainUs = -1;
    bool standing = false;  ///< what the table in force chooses
};

/// The shapes of the dispatch tables for an operator (ks_operator), fewest rows first within a model.
std::vector<Shape> tableShapes(int op, int dtype);

/// How `shape` is named in a table: its width for silu_mul, else its hidden size.
int64_t keyOf(const Shape& shape);

/// Finalists with what stands in the table now, all measured in the same rounds. Empty on a device without candidates. `stop` is asked
/// between rounds: an empty answer then too. Throws std::runtime_error where CUDA fails.
std::vector<Measured> searchShape(const Shape& shape, bool plain, cudaStream_t stream, const std::function<bool()>& stop);

/// Only what the table chooses, in all three patterns.
Measured measureStanding(const Shape& shape, bool plain, cudaStream_t stream);

/// The one to put into the table: the least weighted geometric mean of the cold, the warm and the chain time (cold alone where the data does
/// not fit L2). Cold counts most, what a kernel costs where everything has been evicted since; at a few rows the chain does, the situation of a
/// decode step. Precondition: not empty.
const Measured& quickest(std::span<const Measured> measured, const Shape& shape);

}  // namespace kernelscope::tune
