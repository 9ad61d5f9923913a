#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "core/client/file.h"

namespace kernelscope {

namespace fs = std::filesystem;

namespace {

struct Descriptor {
    int fd = -1;
    ~Descriptor() { if (fd >= 0) ::close(fd); }
};

std::string words(int error) { return std::system_category().message(error); }

Error cannotWrite(const fs::path& file, const std::string& why, int error = 0) {
    return makeError(ErrorCode::environment, "cannot write " + file.string() + ": " + why,
                     error == ENOSPC ? "free some space, or choose another place" : "choose a place that you may write to");
}

Error cannotWrite(const fs::path& file, int error) { return cannotWrite(file, words(error), error); }

/// The same, where it is the folder that does not let us.
Error folderRefuses(const fs::path& file, const fs::path& folder, int error) {
    return cannotWrite(file, "in the folder " + folder.string() + ": " + words(error), error);
}

fs::path folderOf(const fs::path& file) { return file.has_parent_path() ? file.parent_path() : fs::path("."); }

Result<void> makeFolderOf(const fs::path& file, const fs::path& named) {
    std::error_code error;
    if (file.has_parent_path()) fs::create_directories(file.parent_path(), error);
    if (error) return cannotWrite(named, "the folder " + file.parent_path().string() + " cannot be made: " + error.message(), error.value());
    return {};
}

std::string temporaryName(const fs::path& target) {
    static std::atomic<unsigned> counter{0};
    return target.string() + "." + std::to_string(::getpid()) + "-" + std::to_string(counter++) + ".tmp";
}

int writeAll(int fd, std::string_view contents) {
    while (!contents.empty()) {
        const ssize_t written = ::write(fd, contents.data(), contents.size());
        if (written < 0) {
            if (errno == EINTR) continue;
            return errno;
        }
        contents.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

}  // namespace

Result<void> writeFileAtomically(const fs::path& file, std::string_view contents) {
    return writeFileAtomically(file, [&](const TextSink& sink) { return sink(contents); });
}

Result<void> writeFileAtomically(const fs::path& file, const std::function<Result<void>(const TextSink&)>& produce) {
    const auto writeTo = [&](int fd) {
        return produce([&](std::string_view piece) -> Result<void> {
            if (const int failed = writeAll(fd, piece)) return cannotWrite(file, failed);
            return {};
        });
    };
    std::error_code error;
    fs::path target = file;
    if (fs::is_symlink(file, error)) {
        target = fs::weakly_canonical(file, error);
        if (error) return cannotWrite(file, error.value());
    }
    if (fs::is_directory(target, error)) return cannotWrite(file, EISDIR);
    if (fs::exists(target, error) && !fs::is_regular_file(target, error)) {
        Descriptor out{::open(target.c_str(), O_WRONLY | O_CLOEXEC)};
        if (out.fd < 0) return cannotWrite(file, errno);
        return writeTo(out.fd);
    }
    if (auto made = makeFolderOf(target, file); !made) return made;

    const std::string temporary = temporaryName(target);
    Descriptor out{::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)};
    if (out.fd < 0) return folderRefuses(file, folderOf(target), errno);
    if (const auto written = writeTo(out.fd); !written) {
        ::unlink(temporary.c_str());
        return written.error();
    }
    int failed = 0;
    // A new file gets what the user's umask allows, an old one keeps its own permissions.
    struct stat old {};
    if (!failed && ::stat(target.c_str(), &old) == 0 && ::fchmod(out.fd, old.st_mode & 0777) != 0) failed = errno;
    if (!failed && ::fsync(out.fd) != 0) failed = errno;
    if (!failed && ::rename(temporary.c_str(), target.c_str()) != 0) failed = errno;
    if (failed) {
        ::unlink(temporary.c_str());
        return cannotWrite(file, failed);
    }
    return {};
}

Result<void> tryFolder(const fs::path& folder) {
    // Permissions do not tell: root may everything, and still not write to /proc or to a file system mounted read-only.
    const std::string probe = temporaryName(folder / "kernelscope");
    {
        Descriptor out{::open(probe.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
        if (out.fd < 0) return makeError(ErrorCode::environment, "nothing can be written in the folder " + folder.string() + ": " + words(errno), "choose a place that you may write to");
    }
    ::unlink(probe.c_str());
    return {};
}

bool mayWrite(const fs::path& file) { return ::faccessat(AT_FDCWD, file.c_str(), W_OK, AT_EACCESS) == 0; }

Result<void> prepareToWrite(const fs::path& file) {
    std::error_code error;
    if (fs::is_directory(file, error)) return cannotWrite(file, EISDIR);
    fs::path target = file;
    if (fs::is_symlink(file, error)) target = fs::weakly_canonical(file, error);
    if (fs::exists(target, error)) {
        if (!mayWrite(target)) return cannotWrite(file, errno);
        if (!fs::is_regular_file(target, error)) return {};
    }
    if (auto made = makeFolderOf(target, file); !made) return made;
    if (const auto works = tryFolder(folderOf(target)); !works) return cannotWrite(file, works.error().message);
    return {};
}

// O_PATH: no permission is needed, and closing it does not drop the locks that SQLite holds in this process.
HeldFile::HeldFile(const fs::path& file) : m_descriptor(::open(file.c_str(), O_PATH | O_CLOEXEC)) {}

HeldFile::~HeldFile() {
    if (m_descriptor >= 0) ::close(m_descriptor);
}

bool HeldFile::deleted() const {
    struct stat state {};
    return m_descriptor >= 0 && ::fstat(m_descriptor, &state) == 0 && state.st_nlink == 0;
}

Result<std::string> readFile(const fs::path& file, std::uintmax_t limit) {
    const auto cannot = [&](const std::string& why) {
        return makeError(ErrorCode::badInput, "cannot read " + file.string() + ": " + why);
    };
    Descriptor in{::open(file.c_str(), O_RDONLY | O_CLOEXEC)};
    if (in.fd < 0) return cannot(words(errno));
    struct stat state {};
    if (::fstat(in.fd, &state) != 0) return cannot(words(errno));
    if (S_ISDIR(state.st_mode)) return cannot("it is a folder");
    std::string contents;
    if (S_ISREG(state.st_mode)) {
        if (static_cast<std::uintmax_t>(state.st_size) > limit) return cannot("it is larger than " + std::to_string(limit) + " bytes");
        contents.reserve(static_cast<std::size_t>(state.st_size));
    }
    char buffer[1 << 16];
    for (;;) {
        const ssize_t got = ::read(in.fd, buffer, sizeof buffer);
        if (got == 0) return contents;
        if (got < 0) {
            if (errno == EINTR) continue;
            return cannot(words(errno));
        }
        contents.append(buffer, static_cast<std::size_t>(got));
        if (contents.size() > limit) return cannot("it is larger than " + std::to_string(limit) + " bytes");
    }
}

}  // namespace kernelscope
