#include "core/model/files.h"

#include <fstream>
#include <system_error>

#include <fmt/format.h>

namespace kernelscope {

namespace fs = std::filesystem;

std::string toUtf8(const fs::path& path) {
    const std::u8string text = path.u8string();
    return {text.begin(), text.end()};
}

fs::path fromUtf8(const std::string& text) {
    return fs::path(std::u8string(text.begin(), text.end()));
}

Result<std::uintmax_t> regularFileSize(const fs::path& path) {
    std::error_code problem;
    const fs::file_status status = fs::status(path, problem);
    if (status.type() == fs::file_type::not_found) {
        std::error_code ignored;
        if (fs::is_symlink(fs::symlink_status(path, ignored))) {
            return makeError(ErrorCode::badInput,
                             fmt::format("{} is a link to {}, which is not there", toUtf8(path), toUtf8(fs::read_symlink(path, ignored))),
                             "A download may have been cut short; fetch the file again.");
        }
        return makeError(ErrorCode::badInput, fmt::format("{} does not exist", toUtf8(path)), "Check the path, or fetch the file.");
    }
    if (problem) {
        return makeError(ErrorCode::badInput, fmt::format("{} cannot be looked at: {}", toUtf8(path), problem.message()),
                         "Check the permissions of the file and of the folders above it.");
    }
    if (!fs::is_regular_file(status)) {
        return makeError(ErrorCode::badInput, fmt::format("{} is not a regular file", toUtf8(path)), "Put the real file there.");
    }
    const std::uintmax_t size = fs::file_size(path, problem);
    if (problem) {
        return makeError(ErrorCode::badInput, fmt::format("the size of {} cannot be read: {}", toUtf8(path), problem.message()),
                         "Check the permissions of the file and of the folders above it.");
    }
    return size;
}

Result<std::string> readTextFile(const fs::path& path, std::uintmax_t limit) {
    const Result<std::uintmax_t> size = regularFileSize(path);
    if (!size) return size.error();
    if (*size > limit) {
        return makeError(ErrorCode::badInput, fmt::format("{} has {} bytes, more than the {} such a file may have", toUtf8(path), *size, limit),
                         "This may be another file under its name; fetch it again.");
    }
    std::ifstream stream(path, std::ios::binary);
    std::string text(static_cast<std::size_t>(*size), '\0');
    if (stream) stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (!stream.is_open() || stream.bad()) {
        return makeError(ErrorCode::badInput, fmt::format("{} cannot be read", toUtf8(path)),
                         "Check that you may read it (ls -l shows its owner and permissions).");
    }
    text.resize(static_cast<std::size_t>(stream.gcount()));
    return text;
}

}  // namespace kernelscope
