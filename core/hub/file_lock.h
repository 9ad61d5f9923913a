#pragma once
// One program at a time fetches a file: the lock that the hub's Python tools take too.

#include <filesystem>
#include <memory>

#include "core/records/result.h"

namespace kernelscope {

class FileLock {
public:
    /// Null while another program holds it. Errors: environment, when the lock's file cannot be made.
    static Result<std::unique_ptr<FileLock>> tryLock(const std::filesystem::path& file);
    ~FileLock();
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;

private:
    explicit FileLock(int descriptor) : m_descriptor(descriptor) {}
    int m_descriptor;
};

/// Waits until the file's bytes are on the disk. False when the disk refuses.
bool flushToDisk(const std::filesystem::path& file);

}  // namespace kernelscope
