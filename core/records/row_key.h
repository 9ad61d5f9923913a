#pragma once
// Keys of rows: the values of the columns that say which measurement a row is, `op|variant|dtype|hidden|rows|case`.
// Engine and client make them alike, so that a measured cell can be skipped and a crashed one can be named.

#include <span>
#include <string>
#include <string_view>

#include "core/records/row.h"

namespace kernelscope {

/// The columns that identify a row of this type; empty for types without any (generate, samples).
std::span<const std::string_view> keyColumns(std::string_view type);

/// Joined with '|'; a '|' or '\' within a value gets a '\' before it.
std::string rowKey(const RowType& type, std::span<const Value> values);

template <typename Row>
std::string rowKey(const Row& row) { return rowKey(rowTypeOf<Row>(), valuesOf(row)); }

/// A row that knows no more than its key. Errors: badInput when the key does not fit the type.
Result<Values> valuesFromKey(const RowType& type, std::string_view key);

/// The first `count` parts of a key, joined again: `op|variant` of a sweep cell.
std::string keyPrefix(std::string_view key, std::size_t count);

}  // namespace kernelscope
