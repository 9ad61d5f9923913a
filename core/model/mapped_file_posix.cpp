#include "core/model/mapped_file.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "core/model/files.h"

namespace kernelscope {
namespace {

Error failed(const std::filesystem::path& path, const char* doing, int code) {
    return makeError(ErrorCode::badInput, fmt::format("{} cannot be {}: {}", toUtf8(path), doing, std::generic_category().message(code)),
                     code == EACCES || code == EPERM ? "Check that you may read it (ls -l shows its owner and permissions)."
                                                     : "Check the disk that holds it and the limits of this process (ulimit -v).");
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
    if (const Result<std::uintmax_t> size = regularFileSize(path); !size) return size.error();
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return failed(path, "opened", errno);
    struct stat about {};
    if (::fstat(file, &about) != 0) {
        const int code = errno;
        ::close(file);
        return failed(path, "looked at", code);
    }
    const auto size = static_cast<std::size_t>(about.st_size);
    if (size == 0) {  // mmap refuses an empty range
        ::close(file);
        return MappedFile({});
    }
    void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    const int code = errno;
    ::close(file);  // the mapping keeps the file
    if (address == MAP_FAILED) return failed(path, "mapped", code);
    return MappedFile({static_cast<const std::byte*>(address), size});
}

MappedFile::MappedFile(MappedFile&& other) noexcept : m_bytes(std::exchange(other.m_bytes, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
    std::swap(m_bytes, other.m_bytes);
    return *this;
}

MappedFile::~MappedFile() {
    if (!m_bytes.empty()) ::munmap(const_cast<std::byte*>(m_bytes.data()), m_bytes.size());
}

}  // namespace kernelscope
