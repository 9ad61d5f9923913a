#pragma once
// A read-only mapping of a whole file.

#include <cstddef>
#include <filesystem>
#include <span>

#include "core/records/result.h"

namespace kernelscope {

/// Move-only; the bytes stay where they are when it moves. The size is the one the file had when it was opened: a file
/// that another program shortens while it is mapped ends this process at the next access (the system sends SIGBUS), and
/// looking at the size again would only narrow that window. The engine is a process of its own for such cases.
class MappedFile {
public:
    /// Errors: badInput, in words: absent, a link into nowhere, not a regular file, no permission, no address space left.
    static Result<MappedFile> open(const std::filesystem::path& path);

    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&& other) noexcept;
    ~MappedFile();

    [[nodiscard]] std::span<const std::byte> bytes() const { return m_bytes; }

private:
    explicit MappedFile(std::span<const std::byte> bytes) : m_bytes(bytes) {}
    std::span<const std::byte> m_bytes;  ///< empty: nothing is mapped
};

}  // namespace kernelscope
