#pragma once
#include <cstddef>

namespace kernelscope {

/// Takes the memory out of every cache of the CPU: line by line where there is an instruction for it, else by reading more than
/// the caches hold.
void evict(const void* memory, std::size_t bytes);

}  // namespace kernelscope
