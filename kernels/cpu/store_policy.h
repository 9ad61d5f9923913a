#pragma once
// Whether a result is stored into the caches or past them.
//
// An ordinary store to a line that no cache holds reads the line from memory first, so a result outside the caches costs twice its bytes.
// A store past the caches saves that read, and the operator that reads the result next pays it instead: if it follows at once the two are
// equal, and if it comes later a read was saved. Where the caches do hold the line, storing past them throws that away and is much slower.
// So it is done only where both a result and what it is made of are outside the caches: data that outgrows them, or that nobody has touched
// for long. (A result alone may be outside because the call before stored it past them.) docs/measurements/2026-11-30-cpu has the figures.

#include <cstdint>

namespace kernelscope::kernels::cpu {

/// Into the caches, or past them to memory: the latter only where a row begins at an address that divides by the vector.
enum class Store { cached, past };

/// True where most of a few lines, taken from all over these rows, come from farther than the last cache. Takes up to a microsecond, and asks
/// only where there are enough bytes for that not to matter. It reads those lines, also of results that are not written yet.
[[nodiscard]] bool outsideCaches(const void* first, int64_t rows, int64_t rowBytes, int64_t strideBytes);

}  // namespace kernelscope::kernels::cpu
