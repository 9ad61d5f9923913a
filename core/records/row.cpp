#include "core/records/row.h"

#include "core/records/json_read.h"

namespace kernelscope {

using nlohmann::json;

namespace {

std::string_view kindName(ColumnKind kind) {
    switch (kind) {
        case ColumnKind::text: return "text";
        case ColumnKind::integer: return "an integer";
        case ColumnKind::number: return "a number";
        case ColumnKind::boolean: return "true or false";
    }
    return "a value";
}

json toJsonValue(const Value& value) {
    return std::visit([](const auto& held) -> json {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::monostate>) return nullptr;
        else if constexpr (std::is_same_v<Held, double>) return jsonNumber(held);
        else return held;
    }, value);
}

std::optional<Value> valueOf(ColumnKind kind, const json& value) {
    if (value.is_null()) return Value();
    switch (kind) {
        case ColumnKind::text:
            if (value.is_string()) return Value(value.get_ref<const std::string&>());
            break;
        case ColumnKind::integer:
            if (const auto held = integerOf(value)) return Value(*held);
            break;
        case ColumnKind::number:
            if (const auto held = numberOf(value)) return Value(*held);
            break;
        case ColumnKind::boolean:
            if (value.is_boolean()) return Value(value.get<bool>());
            break;
    }
    return std::nullopt;
}

}  // namespace

int RowType::indexOf(std::string_view column) const {
    for (std::size_t i = 0; i < columns.size(); ++i)
        if (columns[i].name == column) return static_cast<int>(i);
    return -1;
}

json toJson(const RowType& type, std::span<const Value> values) {
    json object = json::object();
    for (std::size_t i = 0; i < type.columns.size() && i < values.size(); ++i)
        object[std::string(type.columns[i].name)] = toJsonValue(values[i]);
    return object;
}

Result<Values> valuesFromJson(const RowType& type, const json& object) {
    const std::string what = "row of type " + std::string(type.name);
    if (!object.is_object()) return makeError(ErrorCode::badInput, what + " is not a JSON object");
    Values values;
    values.reserve(type.columns.size());
    for (const Column& column : type.columns) {
        const auto found = object.find(column.name);
        if (found == object.end()) {
            values.emplace_back();
            continue;
        }
        auto value = valueOf(column.kind, *found);
        if (!value)
            return makeError(ErrorCode::badInput,
                             what + ": " + std::string(column.name) + " is not " + std::string(kindName(column.kind)));
        values.push_back(std::move(*value));
    }
    return values;
}

}  // namespace kernelscope
