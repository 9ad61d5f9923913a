#include "core/model/npy.h"

#include <bit>
#include <charconv>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "core/model/files.h"

namespace kernelscope {
namespace {

static_assert(std::endian::native == std::endian::little, "the files are little endian and written as they lie in memory");

constexpr std::string_view kMagic("\x93NUMPY\x01\x00", 8);  // version 1.0: two bytes of header length follow
constexpr std::size_t kAlignment = 64;                       // where the format wants the numbers to start

std::string headerOf(std::int64_t rows, std::int64_t columns) {
    std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ", " +
                             std::to_string(columns) + "), }";
    const std::size_t unpadded = kMagic.size() + 2 + dictionary.size() + 1;
    dictionary.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
    dictionary.push_back('\n');
    std::string header(kMagic);
    header.push_back(static_cast<char>(dictionary.size() & 0xFF));
    header.push_back(static_cast<char>(dictionary.size() >> 8));
    return header + dictionary;
}

// "(12, 600)" after 'shape': into two numbers.
bool readShape(std::string_view header, NpyMatrix& matrix) {
    std::size_t at = header.find("'shape'");
    at = at == std::string_view::npos ? at : header.find('(', at);
    if (at == std::string_view::npos) return false;
    const char* const end = header.data() + header.size();
    const auto first = std::from_chars(header.data() + at + 1, end, matrix.rows);
    if (first.ec != std::errc() || end - first.ptr < 2 || *first.ptr != ',') return false;
    const char* second = first.ptr + 1;
    while (second < end && *second == ' ') ++second;
    const auto last = std::from_chars(second, end, matrix.columns);
    return last.ec == std::errc() && last.ptr < end && *last.ptr == ')' && matrix.rows >= 0 && matrix.columns >= 0;
}

}  // namespace

Result<void> writeNpy(const std::filesystem::path& file, std::span<const float> values, std::int64_t rows, std::int64_t columns) {
    std::error_code failed;
    if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), failed);
    std::filesystem::path partial = file;
    partial += ".partial";
    std::ofstream out(partial, std::ios::binary | std::ios::trunc);
    const std::string header = headerOf(rows, columns);
    out.write(header.data(), static_cast<std::streamsize>(header.size()));
    out.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
    out.close();
    if (out) std::filesystem::rename(partial, file, failed);
    if (!out || failed) {
        std::error_code ignored;
        std::filesystem::remove(partial, ignored);
        return makeError(ErrorCode::environment, "cannot write " + toUtf8(file), "check the folder's permissions and the free space");
    }
    return {};
}

Result<void> prepareNpy(const std::filesystem::path& file) {
    std::error_code failed;
    const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
    std::filesystem::create_directories(folder, failed);
    std::filesystem::path partial = file;
    partial += ".partial";
    const bool folderTaken = std::filesystem::is_directory(file, failed);
    if (folderTaken || !std::ofstream(partial, std::ios::binary | std::ios::trunc)) {
        return makeError(ErrorCode::environment, "cannot write " + toUtf8(file) + (folderTaken ? ": it is a folder" : ": nothing can be written in the folder " + toUtf8(folder)),
                         "choose a place that the engine may write to");
    }
    std::filesystem::remove(partial, failed);
    return {};
}

Result<NpyMatrix> readNpy(const std::filesystem::path& file) {
    const auto refuse = [&](const std::string& why) { return makeError(ErrorCode::badInput, toUtf8(file) + ": " + why); };
    std::ifstream in(file, std::ios::binary);
    if (!in) return refuse("cannot be opened");
    char prefix[10];
    if (!in.read(prefix, sizeof prefix) || std::string_view(prefix, kMagic.size()) != kMagic) return refuse("not an .npy file of version 1.0");
    std::string header(static_cast<unsigned char>(prefix[8]) + 256U * static_cast<unsigned char>(prefix[9]), '\0');
    NpyMatrix matrix;
    if (!in.read(header.data(), static_cast<std::streamsize>(header.size())) || header.find("'<f4'") == std::string::npos ||
        header.find("'fortran_order': False") == std::string::npos || !readShape(header, matrix)) {
        return refuse("not a row-major float32 matrix");
    }
    constexpr std::int64_t kMost = std::int64_t{1} << 33;  // 32 GiB: a lying header must not take the machine down
    if (matrix.columns != 0 && matrix.rows > kMost / matrix.columns) return refuse("its shape is absurd");
    matrix.values.resize(static_cast<std::size_t>(matrix.rows * matrix.columns));
    if (!in.read(reinterpret_cast<char*>(matrix.values.data()), static_cast<std::streamsize>(matrix.values.size() * sizeof(float)))) {
        return refuse("shorter than its header says");
    }
    return matrix;
}

}  // namespace kernelscope
