#include "core/device/device_lock.h"

#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kernelscope {

namespace {

class FileLock final : public DeviceLock {
public:
    explicit FileLock(int file) : m_file(file) {}
    ~FileLock() override {
        if (m_file >= 0) ::close(m_file);
    }
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;

private:
    int m_file;
};

/// One place whatever TMPDIR and XDG_RUNTIME_DIR say: an engine started over ssh must find the lock of one started from a window.
/// Empty where somebody else has taken the name.
std::string lockFolder() {
    const std::string folder = "/tmp/kernelscope-" + std::to_string(::getuid());
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return {};
    struct stat state {};
    const bool ours = ::lstat(folder.c_str(), &state) == 0 && S_ISDIR(state.st_mode) && state.st_uid == ::getuid() && (state.st_mode & 022) == 0;
    return ours ? folder : std::string();
}

}  // namespace

std::unique_ptr<DeviceLock> DeviceLock::tryTake(const std::string& name, std::string& holder) {
    const std::string folder = lockFolder();
    if (folder.empty()) return std::make_unique<FileLock>(-1);
    std::string file = folder + "/gpu-";
    for (const char c : name) file += std::isalnum(static_cast<unsigned char>(c)) ? c : '-';
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor < 0) return std::make_unique<FileLock>(-1);
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
        std::array<char, 32> text{};
        const ssize_t count = ::pread(descriptor, text.data(), text.size() - 1, 0);
        holder.assign(text.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
        ::close(descriptor);
        return nullptr;
    }
    auto lock = std::make_unique<FileLock>(descriptor);
    const std::string self = std::to_string(::getpid());
    // Only words for those who wait: a lock without a name is a lock.
    if (::ftruncate(descriptor, 0) == 0) [[maybe_unused]] const auto written = ::pwrite(descriptor, self.data(), self.size(), 0);
    return lock;
}

std::unique_ptr<DeviceLock> DeviceLock::take(const std::string& name, const std::stop_token& stop, const std::function<void(const std::string& holder)>& waiting) {
    using namespace std::chrono_literals;
    std::mutex mutex;
    std::condition_variable_any wakes;
    std::unique_lock guard(mutex);
    for (int round = 0; !stop.stop_requested(); ++round) {
        std::string holder;
        if (auto lock = tryTake(name, holder)) return lock;
        if (round % 10 == 0) waiting(holder);
        wakes.wait_for(guard, stop, 100ms, [] { return false; });
    }
    return nullptr;
}

}  // namespace kernelscope
