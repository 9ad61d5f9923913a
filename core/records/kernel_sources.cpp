#include "core/records/kernel_sources.h"

#include <algorithm>
#include <filesystem>

#include "core/records/content_version.h"

namespace kernelscope {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMostParts = 256;

std::string_view withoutBlanks(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t");
    return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

}  // namespace

std::vector<std::string> quotedIncludes(std::string_view source) {
    std::vector<std::string> names;
    for (std::size_t begin = 0; begin < source.size();) {
        const std::size_t end = std::min(source.find('\n', begin), source.size());
        std::string_view line = withoutBlanks(source.substr(begin, end - begin));
        begin = end + 1;
        if (!line.starts_with('#')) continue;
        line = withoutBlanks(line.substr(1));
        if (!line.starts_with("include")) continue;
        line = withoutBlanks(line.substr(7));
        const std::size_t close = line.starts_with('"') ? line.find('"', 1) : std::string_view::npos;
        if (close == std::string_view::npos || close == 1) continue;
        std::string name(line.substr(1, close - 1));
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
    }
    return names;
}

std::vector<KernelPart> kernelParts(const std::string& name, std::string_view source, const ReadPart& read) {
    std::vector<KernelPart> parts;
    if (name.ends_with(".so")) return parts;
    const auto known = [&](const std::string& part) {
        return part == name || std::any_of(parts.begin(), parts.end(), [&](const KernelPart& each) { return each.name == part; });
    };
    const auto take = [&](const fs::path& part) {
        const std::string word = part.lexically_normal().generic_string();
        if (known(word)) return true;
        auto contents = parts.size() < kMostParts ? read(word) : std::nullopt;
        if (!contents) return false;
        parts.push_back({word, std::move(*contents)});
        return true;
    };
    // As compilers look: beside the file that includes, then in the source's folder. `parts` grows while it is walked.
    for (const std::string& each : quotedIncludes(source)) take(each);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const fs::path folder = fs::path(parts[i].name).parent_path();
        for (const std::string& each : quotedIncludes(parts[i].contents))
            if (!take(folder / each) && !folder.empty()) take(each);
    }
    for (const char* ending : {".toml", ".json"}) take(name + ending);
    return parts;
}

bool isSideFile(const std::string& part, const std::string& name) { return part == name + ".toml" || part == name + ".json"; }

std::string kernelVersion(std::string_view source, const std::vector<KernelPart>& parts) {
    if (parts.empty()) return contentVersion(source);
    std::string whole(source);
    for (const KernelPart& part : parts) whole += "\n//" + part.name + "\n" + part.contents;
    return contentVersion(whole);
}

}  // namespace kernelscope
