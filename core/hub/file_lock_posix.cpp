#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "core/hub/file_lock.h"
#include "core/model/files.h"

namespace kernelscope {

Result<std::unique_ptr<FileLock>> FileLock::tryLock(const std::filesystem::path& file) {
    std::error_code failed;
    std::filesystem::create_directories(file.parent_path(), failed);
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor < 0) return makeError(ErrorCode::environment, "cannot write " + toUtf8(file) + ": " + std::system_category().message(errno), "choose a cache that you may write to: HF_HUB_CACHE");
    std::unique_ptr<FileLock> lock(new FileLock(descriptor));
    int locked;
    do locked = ::flock(descriptor, LOCK_EX | LOCK_NB);
    while (locked != 0 && errno == EINTR);
    // A file system without locks: better to fetch without one than not at all.
    if (locked != 0 && errno == EWOULDBLOCK) lock.reset();
    return lock;
}

FileLock::~FileLock() { ::close(m_descriptor); }

bool flushToDisk(const std::filesystem::path& file) {
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return false;
    const bool flushed = ::fsync(descriptor) == 0;
    ::close(descriptor);
    return flushed;
}

}  // namespace kernelscope
