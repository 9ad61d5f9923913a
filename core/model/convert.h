#pragma once
// From a checkpoint's bytes, which may lie unaligned in a mapped file, to a tensor of the type that runs.

#include <cstddef>
#include <span>
#include <string_view>

#include <ATen/core/Tensor.h>

namespace kernelscope {

/// Size of an element of float32, float16 or bfloat16; 0 for another name.
std::size_t storedElementSize(std::string_view dtype);

/// Fills the contiguous CPU tensor `out` from `bytes`, elements of `dtype` (float32, float16, bfloat16), rounding to
/// nearest even where `out` is narrower. Precondition: bytes.size() == out.numel() x storedElementSize(dtype).
void convertStored(std::span<const std::byte> bytes, std::string_view dtype, const at::Tensor& out);

/// Gives the pages of a read-only file mapping back, so that a model and its file do not stand in memory together. They
/// are read again from the file when touched. A hint: may do nothing.
void releaseMappedPages(std::span<const std::byte> bytes);

}  // namespace kernelscope
