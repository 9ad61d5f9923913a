#include "core/own/kernel_file.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <random>
#include <system_error>

#include <fmt/format.h>

#include "core/model/files.h"
#include "core/own/source_lines.h"
#include "core/records/user_folders.h"

namespace kernelscope {
namespace fs = std::filesystem;
namespace {

constexpr std::uintmax_t kLargest = 1U << 30U, kLargestPart = 1U << 24U;
// Names that mean something else: variants there are, and the word for every one of them.
constexpr std::array<std::string_view, 5> kTaken{"native", "aten", "fused", "fused_plain", "all"};

Result<KernelFileKind> kindOf(const fs::path& path) {
    const std::string extension = path.extension().string();
    if (extension == ".so") return KernelFileKind::library;
    if (extension == ".cpp" || extension == ".cc" || extension == ".cxx") return KernelFileKind::host;
    if (extension == ".cu") return KernelFileKind::cuda;
    return makeError(ErrorCode::usage, fmt::format("{} is no kernel file: its name ends in neither .cu, .cpp nor .so", toUtf8(path.filename())),
                     "Give a CUDA source (.cu), a C++ source (.cpp) or a shared library (.so); kernelscope-cli kernel new writes one to start from.");
}

Result<void> checkName(const std::string& name, const std::string& file) {
    for (const std::string_view taken : kTaken) {
        if (name == taken) return makeError(ErrorCode::usage, fmt::format("{} would be called '{}', and there is a variant of that name", file, name), "Give the file another name.");
    }
    const auto allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' || c == '+'; };
    for (const char c : name) {
        if (!allowed(c)) return makeError(ErrorCode::usage, fmt::format("{} cannot name a variant: '{}' is none of letters, digits and _ - . +", file, c), "Give the file another name.");
    }
    return {};
}

}  // namespace

Result<KernelFile> readKernelFile(const std::string& path) {
    KernelFile file;
    std::error_code problem;
    file.path = fs::absolute(fromUtf8(path), problem).lexically_normal();
    if (problem) return makeError(ErrorCode::badInput, path + ": " + problem.message());
    const Result<KernelFileKind> kind = kindOf(file.path);
    if (!kind) return kind.error();
    file.kind = *kind;
    file.variant = toUtf8(file.path.stem());
    if (const Result<void> named = checkName(file.variant, nameOf(file)); !named) return named.error();
    Result<std::string> contents = readTextFile(file.path, kLargest);
    if (!contents) return contents.error();
    file.contents = std::move(*contents);
    if (file.contents.empty()) return makeError(ErrorCode::badInput, toUtf8(file.path) + " is empty");
    file.parts = kernelParts(nameOf(file), file.contents, [folder = file.path.parent_path()](const std::string& name) -> std::optional<std::string> {
        Result<std::string> part = readTextFile(folder / fromUtf8(name), kLargestPart);
        if (!part) return std::nullopt;
        return std::move(*part);
    });
    file.version = kernelVersion(file.contents, file.parts);
    return file;
}

std::string nameOf(const KernelFile& file) { return toUtf8(file.path.filename()); }

Result<fs::path> kernelCacheFolder() {
    fs::path folder;
    if (const char* chosen = std::getenv("KERNELSCOPE_KERNEL_CACHE"); chosen && *chosen) folder = fromUtf8(chosen);
    else folder = userCacheFolder() / "kernelscope" / "kernels";
    std::error_code problem;
    fs::create_directories(folder, problem);
    if (problem) {
        return makeError(ErrorCode::environment, fmt::format("The cache of compiled kernels, {}, cannot be made: {}", toUtf8(folder), problem.message()),
                         "Set KERNELSCOPE_KERNEL_CACHE to a folder that can be written.");
    }
    return folder;
}

Error doesNotCompile(const std::string& name, const std::string& variant, std::string_view log) {
    constexpr std::size_t kWhole = 1U << 20U;
    const std::string readable = readableLog(log, kWhole);
    std::size_t leftOut = 0;
    std::string text = firstErrors(readable, leftOut);
    if (leftOut > 0) {
        text += fmt::format("\nand {} more lines", leftOut);
        const Result<fs::path> cache = kernelCacheFolder();
        const fs::path whole = cache ? *cache / (variant + ".log") : fs::path();
        if (cache && writeCacheFile(whole, readable + "\n")) text += ", in " + toUtf8(whole);
    }
    return makeError(ErrorCode::badInput, fmt::format("{} does not compile:\n{}", name, text));
}

Result<void> writeCacheFile(const fs::path& file, std::string_view contents) {
    std::error_code problem;
    fs::create_directories(file.parent_path(), problem);
    const fs::path draft = file.parent_path() / fmt::format("{}.{:08x}", toUtf8(file.filename()), std::random_device{}());
    {
        std::ofstream out(draft, std::ios::binary);
        out.write(contents.data(), static_cast<std::streamsize>(contents.size()));
        if (!out.flush()) {
            const int cause = errno;
            fs::remove(draft, problem);
            return makeError(ErrorCode::environment, "Cannot write to " + toUtf8(file.parent_path()) + ": " + std::generic_category().message(cause), "Free some space there, or set KERNELSCOPE_KERNEL_CACHE to a folder that can be written.");
        }
    }
    fs::rename(draft, file, problem);
    if (problem) return makeError(ErrorCode::environment, fmt::format("Cannot write {}: {}", toUtf8(file), problem.message()));
    return {};
}

}  // namespace kernelscope
