#include "core/own/directives.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernelscope/kernels.h"

namespace kernelscope {
namespace {

constexpr std::string_view kMark = "kernelscope:";
constexpr std::array<std::string_view, 12> kKeys{"operator", "kernel", "kernel.float32", "kernel.float16", "kernel.bfloat16", "types",
                                                 "block",    "grid",   "shared",         "requires",       "devices",         "options"};
struct TypeWords {
    int dtype;
    std::string_view name, cuda;
};
constexpr std::array kTypes{TypeWords{KS_FLOAT32, "float32", "float"}, TypeWords{KS_FLOAT16, "float16", "__half"}, TypeWords{KS_BFLOAT16, "bfloat16", "__nv_bfloat16"}};

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

struct Line {
    std::int64_t number = 0;
    std::string value;
};
using Lines = std::map<std::string, Line, std::less<>>;

/// The parts between commas that stand outside parentheses.
std::vector<std::string> parts(std::string_view text) {
    std::vector<std::string> found;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i < text.size() && text[i] == '(') ++depth;
        if (i < text.size() && text[i] == ')') --depth;
        if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
        found.emplace_back(trimmed(text.substr(begin, i - begin)));
        begin = i + 1;
    }
    return found;
}

std::vector<std::string> words(std::string_view text) {
    std::vector<std::string> found;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = text.find_first_not_of(" \t", at);
        if (begin == std::string_view::npos) break;
        const std::size_t end = std::min(text.find_first_of(" \t", begin), text.size());
        found.emplace_back(text.substr(begin, end - begin));
        at = end;
    }
    return found;
}

Error at(const std::string& file, std::int64_t line, const std::string& what, std::string advice = {}) {
    return makeError(ErrorCode::badInput, fmt::format("{}:{}: {}", file, line, what), std::move(advice));
}

Result<Lines> readLines(std::string_view source, const std::string& file) {
    Lines lines;
    std::int64_t number = 0;
    for (std::size_t begin = 0; begin < source.size();) {
        const std::size_t end = std::min(source.find('\n', begin), source.size());
        std::string_view line = trimmed(source.substr(begin, end - begin));
        begin = end + 1;
        ++number;
        if (!line.starts_with("//")) continue;
        line = trimmed(line.substr(std::min(line.find_first_not_of('/'), line.size())));
        if (!line.starts_with(kMark)) continue;
        line = trimmed(line.substr(kMark.size()));
        const std::size_t equals = line.find('=');
        if (equals == std::string_view::npos) return at(file, number, fmt::format("'{}' is not key = value", line));
        const std::string key(trimmed(line.substr(0, equals)));
        const std::string value(trimmed(line.substr(equals + 1)));
        if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) return at(file, number, fmt::format("there is no key '{}'", key), fmt::format("Known: {}.", fmt::join(kKeys, ", ")));
        if (value.empty()) return at(file, number, fmt::format("'{}' has no value", key));
        if (const auto earlier = lines.find(key); earlier != lines.end()) return at(file, number, fmt::format("'{}' is said already on line {}", key, earlier->second.number));
        lines.emplace(key, Line{number, value});
    }
    return lines;
}

Result<std::vector<std::string>> optionsOf(const Lines& lines, const std::string& file) {
    const auto found = lines.find("options");
    if (found == lines.end()) return std::vector<std::string>{};
    std::vector<std::string> options = words(found->second.value);
    for (const std::string& option : options) {
        if (!option.starts_with('-')) return at(file, found->second.number, fmt::format("'{}' is no compiler option: it does not begin with -", option));
    }
    return options;
}

/// T where it stands as a word of its own becomes `type`.
std::string withType(std::string_view function, std::string_view type) {
    const auto isWord = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
    std::string text;
    for (std::size_t i = 0; i < function.size(); ++i) {
        const bool alone = function[i] == 'T' && (i == 0 || !isWord(function[i - 1])) && (i + 1 == function.size() || !isWord(function[i + 1]));
        if (alone) text += type;
        else text += function[i];
    }
    return text;
}

class Reader {
public:
    Reader(Lines lines, std::string file) : m_lines(std::move(lines)), m_file(std::move(file)) {}

    Result<CudaDirectives> read() {
        CudaDirectives made;
        const Line* op = find("operator");
        std::vector<std::string_view> known;
        for (const Signature& each : signatures()) known.push_back(each.op);
        if (!op) {
            return makeError(ErrorCode::badInput, m_file + ":1: no line says which operator this is",
                             fmt::format("Write // kernelscope: operator = ... (one of {}); kernelscope-cli kernel new writes a whole header.", fmt::join(known, ", ")));
        }
        made.signature = findSignature(op->value);
        if (!made.signature) return at(m_file, op->number, fmt::format("there is no operator '{}'", op->value), fmt::format("Known: {}.", fmt::join(known, ", ")));
        if (const Result<void> done = readTypes(made); !done) return done.error();

        std::vector<std::string_view> names{"element_size", "alignment", "multiprocessors"};
        for (const Parameter& parameter : made.signature->parameters) {
            if (parameter.kind == ParameterKind::number) names.push_back(parameter.name);
        }
        if (const Result<void> done = readSizes("block", "256", names, made.block); !done) return done.error();
        if (const Result<void> done = readOne("requires", names, made.requires_); !done) return done.error();
        names.emplace_back("block");
        if (const Result<void> done = readSizes("grid", std::string(made.signature->rows), names, made.grid); !done) return done.error();
        if (const Result<void> done = readOne("shared", names, made.shared); !done) return done.error();
        if (const Result<void> done = readDevices(made); !done) return done.error();
        Result<std::vector<std::string>> options = optionsOf(m_lines, m_file);
        if (!options) return options.error();
        made.options = std::move(*options);
        return made;
    }

private:
    const Line* find(std::string_view key) const {
        const auto found = m_lines.find(key);
        return found == m_lines.end() ? nullptr : &found->second;
    }

    Result<void> readTypes(CudaDirectives& made) const {
        const Line* general = find("kernel");
        const bool isTemplate = general && withType(general->value, "") != general->value;
        std::vector<std::string> asked;
        if (const Line* types = find("types")) {
            for (const std::string& name : parts(types->value)) {
                const bool known = std::any_of(kTypes.begin(), kTypes.end(), [&](const TypeWords& each) { return each.name == name; });
                if (!known) return at(m_file, types->number, fmt::format("there is no type '{}'", name), "Known: float32, float16, bfloat16.");
                asked.push_back(name);
            }
            if (general && !isTemplate && asked.size() != 1) {
                return at(m_file, general->number, fmt::format("'{}' can serve one type only", general->value), "Put T where the element type stands (my_kernel<T>), or use kernel.float16 and so on.");
            }
        } else if (general && !isTemplate) {
            return at(m_file, general->number, fmt::format("'{}' serves one type, but no line says which", general->value), "Add // kernelscope: types = float16, or put T where the element type stands: my_kernel<T>.");
        }
        for (const TypeWords& type : kTypes) {
            const Line* own = find(fmt::format("kernel.{}", type.name));
            const bool named = std::find(asked.begin(), asked.end(), type.name) != asked.end();
            if (own) made.types.push_back({type.dtype, withType(own->value, type.cuda)});
            else if (general && (named || asked.empty())) made.types.push_back({type.dtype, withType(general->value, type.cuda)});
            else if (named) return at(m_file, find("types")->number, fmt::format("no kernel is named for {}", type.name), fmt::format("Add // kernelscope: kernel.{} = ...", type.name));
        }
        if (made.types.empty()) {
            return at(m_file, find("operator")->number, "no line says which function the kernel is", "Write // kernelscope: kernel = my_kernel<T>, where T stands for the element type.");
        }
        return {};
    }

    Result<void> readSizes(const char* key, const std::string& fallback, const std::vector<std::string_view>& names, std::vector<Expression>& sizes) const {
        const Line* line = find(key);
        const std::vector<std::string> texts = parts(line ? line->value : fallback);
        if (texts.size() > 3) return at(m_file, line->number, fmt::format("{} has more than three sizes", key));
        for (const std::string& text : texts) {
            Result<Expression> parsed = Expression::parse(text, names);
            if (!parsed) return at(m_file, line ? line->number : 1, fmt::format("{}: {}", key, parsed.error().message));
            sizes.push_back(std::move(*parsed));
        }
        return {};
    }

    Result<void> readOne(const char* key, const std::vector<std::string_view>& names, std::optional<Expression>& target) const {
        const Line* line = find(key);
        if (!line) return {};
        Result<Expression> parsed = Expression::parse(line->value, names);
        if (!parsed) return at(m_file, line->number, fmt::format("{}: {}", key, parsed.error().message));
        target = std::move(*parsed);
        return {};
    }

    Result<void> readDevices(CudaDirectives& made) const {
        const Line* line = find("devices");
        if (!line) return {};
        for (std::string part : parts(line->value)) {
            CudaDirectives::Compute compute;
            compute.andAbove = part.ends_with('+');
            if (compute.andAbove) part.pop_back();
            const bool digits = part.size() > 3 && part.size() < 7 && part.starts_with("sm_") && std::all_of(part.begin() + 3, part.end(), [](char c) { return c >= '0' && c <= '9'; });
            if (!digits) return at(m_file, line->number, fmt::format("'{}' is no device: write sm_90, or sm_80+ for that and all above", part));
            compute.version = std::stoi(part.substr(3));
            made.devices.push_back(compute);
        }
        return {};
    }

    Lines m_lines;
    std::string m_file;
};

}  // namespace

bool CudaDirectives::serves(int computeCapability) const {
    return devices.empty() || std::any_of(devices.begin(), devices.end(), [&](const Compute& each) { return each.andAbove ? computeCapability >= each.version : computeCapability == each.version; });
}

Result<std::vector<std::string>> compilerOptions(std::string_view source, const std::string& file) {
    const Result<Lines> lines = readLines(source, file);
    if (!lines) return lines.error();
    return optionsOf(*lines, file);
}

Result<CudaDirectives> readDirectives(std::string_view source, const std::string& file) {
    Result<Lines> lines = readLines(source, file);
    if (!lines) return lines.error();
    return Reader(std::move(*lines), file).read();
}

std::string_view typeName(int dtype) {
    for (const TypeWords& each : kTypes) {
        if (each.dtype == dtype) return each.name;
    }
    return "unknown";
}

}  // namespace kernelscope
