#pragma once
// A row type is a flat struct plus one list of its columns. CSV, JSON, the wire and the store all follow
// from that list; nothing else names a column.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/records/result.h"

namespace kernelscope {

/// One cell. monostate is "not known" (empty in CSV, null in JSON); a double may be NaN or infinite.
using Value = std::variant<std::monostate, bool, std::int64_t, double, std::string>;
using Values = std::vector<Value>;

enum class ColumnKind { text, integer, number, boolean };

struct Column {
    std::string_view name;
    ColumnKind kind;
};

/// A row type without its C++ type: what the store, the exporters and the table views work with.
struct RowType {
    std::string_view name;          ///< "profile", "sweep", ...; also the store's table name
    std::span<const Column> columns;

    /// Index of a column, or -1.
    [[nodiscard]] int indexOf(std::string_view column) const;
};

template <typename Row, typename Member>
struct Field {
    std::string_view name;
    Member Row::* member;
};

template <typename Row, typename Member>
constexpr Field<Row, Member> field(std::string_view name, Member Row::* member) {
    return {name, member};
}

/// Specialised once for every row struct: `kName` and `kFields` (a tuple of field(...)).
template <typename Row>
struct RowSchema;

namespace detail {
template <typename T>
struct ColumnOf;
template <> struct ColumnOf<std::string> { static constexpr ColumnKind kind = ColumnKind::text; };
template <> struct ColumnOf<std::int64_t> { static constexpr ColumnKind kind = ColumnKind::integer; };
template <> struct ColumnOf<double> { static constexpr ColumnKind kind = ColumnKind::number; };
template <> struct ColumnOf<bool> { static constexpr ColumnKind kind = ColumnKind::boolean; };
template <typename T> struct ColumnOf<std::optional<T>> : ColumnOf<T> {};

template <typename T>
Value toValue(const T& value) { return Value(value); }
template <typename T>
Value toValue(const std::optional<T>& value) { return value ? Value(*value) : Value(); }

template <typename T>
bool assign(T& target, const Value& value) {
    if (const T* held = std::get_if<T>(&value)) { target = *held; return true; }
    if constexpr (std::is_same_v<T, double>) {
        if (const auto* held = std::get_if<std::int64_t>(&value)) { target = static_cast<double>(*held); return true; }
    }
    return std::holds_alternative<std::monostate>(value);  // an absent column keeps its default
}
template <typename T>
bool assign(std::optional<T>& target, const Value& value) {
    if (std::holds_alternative<std::monostate>(value)) { target.reset(); return true; }
    T held{};
    if (!assign(held, value)) return false;
    target = std::move(held);
    return true;
}
}  // namespace detail

/// The columns of a row struct, in CSV order.
template <typename Row>
std::span<const Column> columnsOf() {
    static constexpr auto columns = std::apply(
        [](auto... fields) {
            return std::array<Column, sizeof...(fields)>{
                Column{fields.name, detail::ColumnOf<std::remove_cvref_t<decltype(std::declval<Row&>().*fields.member)>>::kind}...};
        },
        RowSchema<Row>::kFields);
    return columns;
}

template <typename Row>
RowType rowTypeOf() { return {RowSchema<Row>::kName, columnsOf<Row>()}; }

template <typename Row>
Values valuesOf(const Row& row) {
    return std::apply([&](auto... fields) { return Values{detail::toValue(row.*fields.member)...}; }, RowSchema<Row>::kFields);
}

/// The struct from its values, in column order; nullopt when a value has the wrong kind or the count differs.
template <typename Row>
std::optional<Row> rowFrom(std::span<const Value> values) {
    Row row;
    std::size_t index = 0;
    const bool fits = values.size() == columnsOf<Row>().size() && std::apply([&](auto... fields) {
        return (detail::assign(row.*fields.member, values[index++]) && ...);
    }, RowSchema<Row>::kFields);
    if (!fits) return std::nullopt;
    return row;
}

/// {column: value}. NaN and infinities become the strings "nan", "inf", "-inf", since JSON has none.
nlohmann::json toJson(const RowType& type, std::span<const Value> values);

/// The values of a JSON object in column order. Missing columns are "not known"; unknown keys are ignored
/// (a newer writer may add some); a value of the wrong kind is an error naming the column.
Result<Values> valuesFromJson(const RowType& type, const nlohmann::json& object);

}  // namespace kernelscope
