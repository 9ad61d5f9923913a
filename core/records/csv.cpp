#include "core/records/csv.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace kernelscope {

std::string numberText(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    // to_chars alone would write 100000 as 1e+05: right, but no pleasure to read in a table of times.
    const double size = std::abs(value);
    const bool plain = value == 0 || (size >= 1e-4 && size < 1e15);
    char buffer[64];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value,
                                   plain ? std::chars_format::fixed : std::chars_format::scientific).ptr;
    return {buffer, end};
}

std::string cellText(const Value& value) {
    return std::visit([](const auto& held) -> std::string {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::monostate>) return {};
        else if constexpr (std::is_same_v<Held, bool>) return held ? "true" : "false";
        else if constexpr (std::is_same_v<Held, std::int64_t>) return std::to_string(held);
        else if constexpr (std::is_same_v<Held, double>) return numberText(held);
        else return held;
    }, value);
}

std::string csvField(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + '"';
}

namespace {
template <typename Items, typename Text>
std::string line(const Items& items, Text text) {
    std::string joined;
    bool first = true;
    for (const auto& item : items) {
        if (!first) joined += ',';
        first = false;
        joined += csvField(text(item));
    }
    return joined + "\r\n";
}
}  // namespace

std::string csvHeader(const RowType& type) {
    return line(type.columns, [](const Column& column) { return column.name; });
}

std::string csvLine(std::span<const Value> values) {
    return line(values, [](const Value& value) { return cellText(value); });
}

std::string csvLine(std::span<const std::string> cells) {
    return line(cells, [](const std::string& cell) -> const std::string& { return cell; });
}

std::string csvDocument(const RowType& type, std::span<const Values> rows) {
    std::string text = csvHeader(type);
    for (const Values& row : rows) text += csvLine(row);
    return text;
}

Result<std::vector<std::vector<std::string>>> parseCsv(std::string_view text) {
    if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
    std::vector<std::vector<std::string>> records;
    std::vector<std::string> record;
    std::string field;
    bool inQuotes = false, wasQuoted = false, pending = false;  // pending: a record has begun
    std::size_t lineNumber = 1, quoteLine = 1;
    const auto endField = [&] {
        record.push_back(std::move(field));
        field.clear();
        wasQuoted = false;
    };
    const auto endRecord = [&] {
        endField();
        records.push_back(std::move(record));
        record.clear();
        pending = false;
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '\n') ++lineNumber;
        if (inQuotes) {
            if (c != '"') field += c;
            else if (i + 1 < text.size() && text[i + 1] == '"') field += text[++i];
            else inQuotes = false;
            continue;
        }
        if (c == '\n' || (c == '\r' && i + 1 < text.size() && text[i + 1] == '\n')) {
            if (c == '\r') {
                ++i;
                ++lineNumber;
            }
            endRecord();
            continue;
        }
        pending = true;
        if (c == ',') {
            endField();
        } else if (c == '"' && field.empty() && !wasQuoted) {
            inQuotes = wasQuoted = true;
            quoteLine = lineNumber;
        } else if (wasQuoted || c == '"') {
            return makeError(ErrorCode::badInput, "CSV line " + std::to_string(lineNumber) + ": a stray quote");
        } else {
            field += c;
        }
    }
    if (inQuotes)
        return makeError(ErrorCode::badInput, "CSV line " + std::to_string(quoteLine) + ": a quote that never closes");
    if (pending) endRecord();
    return records;
}

namespace {

template <typename Number>
bool parseWhole(std::string_view text, Number& value) {
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    return status == std::errc() && end == text.data() + text.size();
}

std::optional<Value> valueFromText(ColumnKind kind, const std::string& text) {
    if (text.empty()) return Value();
    switch (kind) {
        case ColumnKind::text: return Value(text);
        case ColumnKind::boolean:
            if (text == "true") return Value(true);
            if (text == "false") return Value(false);
            return std::nullopt;
        case ColumnKind::integer: {
            std::int64_t value = 0;
            return parseWhole(text, value) ? std::optional(Value(value)) : std::nullopt;
        }
        case ColumnKind::number: {
            double value = 0;  // from_chars reads nan, inf and -inf too
            return parseWhole(text, value) ? std::optional(Value(value)) : std::nullopt;
        }
    }
    return std::nullopt;
}

}  // namespace

Result<std::vector<Values>> rowsFromCsv(const RowType& type, std::string_view text) {
    auto records = parseCsv(text);
    if (!records) return records.error();
    if (records->empty()) return makeError(ErrorCode::badInput, "CSV without a header line");
    const auto& header = records->front();
    std::vector<int> target(header.size());
    for (std::size_t i = 0; i < header.size(); ++i) target[i] = type.indexOf(header[i]);

    std::vector<Values> rows;
    for (std::size_t r = 1; r < records->size(); ++r) {
        const auto& record = (*records)[r];
        const std::string where = "CSV record " + std::to_string(r + 1);
        if (record.size() != header.size())
            return makeError(ErrorCode::badInput, where + " has " + std::to_string(record.size()) + " fields, the header " +
                                                      std::to_string(header.size()));
        Values values(type.columns.size());
        for (std::size_t i = 0; i < record.size(); ++i) {
            if (target[i] < 0) continue;
            const Column& column = type.columns[static_cast<std::size_t>(target[i])];
            auto value = valueFromText(column.kind, record[i]);
            if (!value) return makeError(ErrorCode::badInput, where + ": " + std::string(column.name) + " is not readable");
            values[static_cast<std::size_t>(target[i])] = std::move(*value);
        }
        rows.push_back(std::move(values));
    }
    return rows;
}

}  // namespace kernelscope
