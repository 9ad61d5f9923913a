#pragma once
// Folders for what a test writes.

#include <atomic>
#include <filesystem>
#include <string>
#include <system_error>

#if defined(_WIN32)
#include <process.h>
#else
#include <unistd.h>
#endif

namespace kernelscope::test {

/// A folder that no other test has, whatever runs beside it, removed at the end of the scope. Its name holds a space and letters beyond ASCII,
/// because users' paths do. The process's number and a count make it its own; where a process of the same number left one behind (or, in another
/// container, has one now), the next count is taken.
class TemporaryFolder {
public:
    TemporaryFolder() {
#if defined(_WIN32)
        const long process = ::_getpid();
#else
        const long process = ::getpid();
#endif
        static std::atomic<int> count = 0;
        do {
            m_path = std::filesystem::temp_directory_path() /
                     std::filesystem::path(u8"kernelscope tëst 模型 ").concat(std::to_string(process) + "-" + std::to_string(count++));
        } while (!std::filesystem::create_directory(m_path));
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(m_path, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }
    [[nodiscard]] std::filesystem::path operator/(const std::filesystem::path& name) const { return m_path / name; }

private:
    std::filesystem::path m_path;
};

}  // namespace kernelscope::test
