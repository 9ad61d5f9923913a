#include "core/records/row_key.h"

#include <array>
#include <charconv>

#include "core/records/csv.h"

namespace kernelscope {

namespace {

constexpr std::array<std::string_view, 3> kProfile{"phase", "level", "name"};
constexpr std::array<std::string_view, 6> kValidate{"op", "variant", "dtype", "hidden", "rows", "case"};
constexpr std::array<std::string_view, 6> kSweep{"op", "variant", "dtype", "hidden", "rows", "cache"};
constexpr std::array<std::string_view, 9> kTune{"op", "dtype", "hidden", "rows", "launch", "config", "trigger", "prefetch", "blocks_per_sm"};
constexpr std::array<std::string_view, 4> kRoofline{"op", "dtype", "hidden", "rows"};
constexpr std::array<std::string_view, 2> kContext{"batch", "context_tokens"};
constexpr std::array<std::string_view, 3> kContextShare{"batch", "context_tokens", "type"};
constexpr std::array<std::string_view, 2> kEndToEnd{"configuration", "mode"};

std::vector<std::string> partsOf(std::string_view key) {
    std::vector<std::string> parts(1);
    for (std::size_t i = 0; i < key.size(); ++i) {
        if (key[i] == '\\' && i + 1 < key.size()) parts.back() += key[++i];
        else if (key[i] == '|') parts.emplace_back();
        else parts.back() += key[i];
    }
    return parts;
}

void appendPart(std::string& key, std::string_view part, bool first) {
    if (!first) key += '|';
    for (const char c : part) {
        if (c == '|' || c == '\\') key += '\\';
        key += c;
    }
}

}  // namespace

std::span<const std::string_view> keyColumns(std::string_view type) {
    if (type == "profile") return kProfile;
    if (type == "validate") return kValidate;
    if (type == "sweep") return kSweep;
    if (type == "e2e") return kEndToEnd;
    if (type == "tune") return kTune;
    if (type == "context") return kContext;
    if (type == "context_share") return kContextShare;
    if (type == "error_map") return kValidate;
    if (type == "roofline") return kRoofline;
    return {};
}

std::string rowKey(const RowType& type, std::span<const Value> values) {
    std::string key;
    bool first = true;
    for (const std::string_view column : keyColumns(type.name)) {
        const int index = type.indexOf(column);
        const bool known = index >= 0 && static_cast<std::size_t>(index) < values.size();
        appendPart(key, known ? cellText(values[static_cast<std::size_t>(index)]) : std::string(), first);
        first = false;
    }
    return key;
}

Result<Values> valuesFromKey(const RowType& type, std::string_view key) {
    const auto columns = keyColumns(type.name);
    const auto parts = partsOf(key);
    const auto misfit = [&] { return makeError(ErrorCode::badInput, "'" + std::string(key) + "' is no key of a " + std::string(type.name) + " row"); };
    if (columns.empty() || parts.size() != columns.size()) return misfit();
    Values values(type.columns.size());
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const int index = type.indexOf(columns[i]);
        if (index < 0) return misfit();
        Value& value = values[static_cast<std::size_t>(index)];
        if (type.columns[static_cast<std::size_t>(index)].kind == ColumnKind::integer) {
            std::int64_t number = 0;
            const char* end = parts[i].data() + parts[i].size();
            if (const auto read = std::from_chars(parts[i].data(), end, number); read.ec != std::errc() || read.ptr != end) return misfit();
            value = number;
        } else {
            value = parts[i];
        }
    }
    return values;
}

std::string keyPrefix(std::string_view key, std::size_t count) {
    const auto parts = partsOf(key);
    std::string prefix;
    for (std::size_t i = 0; i < std::min(count, parts.size()); ++i) appendPart(prefix, parts[i], i == 0);
    return prefix;
}

}  // namespace kernelscope
