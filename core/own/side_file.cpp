#include "core/own/side_file.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/model/files.h"
#include "core/own/directives.h"

namespace kernelscope {
namespace {

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// Up to a # outside quotes.
std::string_view withoutComment(std::string_view line) {
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '"') quoted = !quoted;
        if (line[i] == '#' && !quoted) return line.substr(0, i);
    }
    return line;
}

/// "a", ["a", "b"] and 256 as a header comment has them: a, "a, b", 256.
Result<std::string> plainValue(std::string_view value, const std::string& where) {
    if (value.find_first_of("\"[{") == std::string_view::npos) return std::string(value);
    const nlohmann::json parsed = nlohmann::json::parse(value, nullptr, false);
    const auto word = [](const nlohmann::json& one) { return one.is_string() ? one.get<std::string>() : one.dump(); };
    if (parsed.is_string() || parsed.is_number()) return word(parsed);
    if (parsed.is_array() && !parsed.empty()) {
        std::string text;
        for (const nlohmann::json& one : parsed) text += (text.empty() ? "" : ", ") + word(one);
        return text;
    }
    return makeError(ErrorCode::badInput, fmt::format("{}: '{}' is no text, number or list of them", where, value));
}

Result<std::string> fromToml(std::string_view contents, const std::string& file) {
    std::string text;
    std::int64_t number = 0;
    for (std::size_t begin = 0; begin < contents.size();) {
        const std::size_t end = std::min(contents.find('\n', begin), contents.size());
        const std::string_view line = trimmed(withoutComment(contents.substr(begin, end - begin)));
        begin = end + 1;
        ++number;
        const std::string where = fmt::format("{}:{}", file, number);
        if (!line.empty()) {
            const std::size_t equals = line.find('=');
            if (equals == std::string_view::npos) return makeError(ErrorCode::badInput, fmt::format("{}: '{}' is not key = value", where, line));
            const Result<std::string> value = plainValue(trimmed(line.substr(equals + 1)), where);
            if (!value) return value.error();
            text += fmt::format("// kernelscope: {} = {}", trimmed(line.substr(0, equals)), *value);
        }
        text += '\n';
    }
    return text;
}

Result<std::string> fromJson(std::string_view contents, const std::string& file) {
    const nlohmann::json parsed = nlohmann::json::parse(contents, nullptr, false);
    if (!parsed.is_object()) return makeError(ErrorCode::badInput, fmt::format("{}:1: this is no JSON object of keys and values", file));
    std::vector<std::string> lines(static_cast<std::size_t>(std::count(contents.begin(), contents.end(), '\n')) + 1);
    std::string more;  // of keys that share a line
    for (const auto& [key, each] : parsed.items()) {
        const std::size_t at = contents.find(fmt::format("\"{}\"", key));
        const auto line = static_cast<std::size_t>(std::count(contents.begin(), contents.begin() + static_cast<std::ptrdiff_t>(at == std::string_view::npos ? 0 : at), '\n'));
        const Result<std::string> value = plainValue(each.dump(), fmt::format("{}:{}", file, line + 1));
        if (!value) return value.error();
        const std::string comment = fmt::format("// kernelscope: {} = {}", key, *value);
        if (lines[line].empty()) lines[line] = comment;
        else more += comment + "\n";
    }
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text + more;
}

bool hasHeaderComment(std::string_view source) {
    for (std::size_t begin = 0; begin < source.size();) {
        const std::size_t end = std::min(source.find('\n', begin), source.size());
        std::string_view line = trimmed(source.substr(begin, end - begin));
        begin = end + 1;
        if (!line.starts_with("//")) continue;
        line = trimmed(line.substr(std::min(line.find_first_not_of('/'), line.size())));
        if (line.starts_with("kernelscope:")) return true;
    }
    return false;
}

}  // namespace

Result<std::string> commentOf(std::string_view contents, const std::string& file) {
    return file.ends_with(".json") ? fromJson(contents, file) : fromToml(contents, file);
}

Result<DirectiveText> directiveText(const KernelFile& file) {
    for (const KernelPart& part : file.parts) {
        if (!isSideFile(part.name, nameOf(file))) continue;
        const std::string path = toUtf8(file.path.parent_path() / fromUtf8(part.name));
        if (hasHeaderComment(file.contents)) return makeError(ErrorCode::badInput, fmt::format("{}:1: {} has a header comment that says the same", path, nameOf(file)), "Say it in one of the two.");
        Result<std::string> text = commentOf(part.contents, path);
        if (!text) return text.error();
        return DirectiveText{std::move(*text), path};
    }
    return DirectiveText{file.contents, toUtf8(file.path)};
}

Result<std::vector<std::string>> optionsOf(const KernelFile& file) {
    if (file.kind == KernelFileKind::library) return std::vector<std::string>{};
    const Result<DirectiveText> said = directiveText(file);
    if (!said) return said.error();
    return compilerOptions(said->text, said->file);
}

}  // namespace kernelscope
