#include "core/client/kernel_template.h"

#include <string_view>
#include <cctype>
#include <algorithm>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/client/file.h"
#include "core/records/embedded.h"
#include "core/records/nearest.h"

namespace kernelscope {
namespace fs = std::filesystem;

std::vector<std::string> templateOperators() {
    std::vector<std::string> names;
    for (const embedded::File& file : embedded::kernelTemplates()) {
        std::string name(file.name.substr(0, file.name.find('.')));
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
    }
    return names;
}

Result<std::string> kernelTemplate(const std::string& op, const fs::path& file) {
    const std::vector<std::string> known = templateOperators();
    if (std::find(known.begin(), known.end(), op) == known.end()) {
        const auto near = nearest(op, known);
        return makeError(ErrorCode::usage, fmt::format("there is no operator '{}'", op), near.empty() ? fmt::format("known: {}", fmt::join(known, ", ")) : "did you mean " + near.front() + "?");
    }
    const std::string extension = file.extension().string();
    const std::string kind = extension == ".cc" || extension == ".cxx" ? ".cpp" : extension;
    for (const embedded::File& each : embedded::kernelTemplates()) {
        if (each.name != op + kind) continue;
        std::string text(each.text);
        const std::string name = file.filename().string();
        const std::string mark = "THIS" + kind;
        for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + name.size())) text.replace(at, mark.size(), name);
        return text;
    }
    return makeError(ErrorCode::usage, fmt::format("'{}' is no kernel source: its name ends in neither .cu nor .cpp", file.string()), "end it in .cu for CUDA, in .cpp for the CPU");
}

Result<void> writeKernelTemplate(const std::string& op, const fs::path& file) {
    const Result<std::string> text = kernelTemplate(op, file);
    if (!text) return text.error();
    const std::string variant = file.stem().string();
    const bool plain = std::all_of(variant.begin(), variant.end(), [](unsigned char c) { return std::isalnum(c) != 0 || std::string_view("_-.+").find(char(c)) != std::string_view::npos; });
    if (!plain) return makeError(ErrorCode::usage, fmt::format("'{}' cannot name a variant: only letters, digits and _ - . + can", variant), "give the file another name");
    for (const char* taken : {"native", "aten", "fused", "fused_plain"})
        if (variant == taken) return makeError(ErrorCode::usage, fmt::format("there is a variant named {} already", variant), "give the file another name");
    std::error_code problem;
    if (fs::exists(file, problem)) return makeError(ErrorCode::usage, fmt::format("'{}' is there already, and is left as it is", file.string()), "give another name, or move it away");
    return writeFileAtomically(file, *text);
}

}  // namespace kernelscope
