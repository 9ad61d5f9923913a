#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "core/model/convert.h"

namespace kernelscope {

void releaseMappedPages(std::span<const std::byte> bytes) {
    // Only pages that lie wholly inside: a neighbour on the same page may not have been read yet.
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto begin = (reinterpret_cast<std::uintptr_t>(bytes.data()) + page - 1) / page * page;
    const auto end = (reinterpret_cast<std::uintptr_t>(bytes.data()) + bytes.size()) / page * page;
    if (begin < end) (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace kernelscope
