#pragma once
// CSV as RFC 4180 has it: UTF-8, header first, CRLF, quotes where a field needs them. Numbers are the shortest digits
// that read back as the same double, in the C locale whatever LANG says; nan, inf and -inf are spelt so; an empty
// field is "not known".

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/records/row.h"

namespace kernelscope {

/// The shortest text that reads back as `value`: 0.1, 1200, 6.02e+23, nan, inf.
std::string numberText(double value);
/// One cell without quotes; empty for "not known".
std::string cellText(const Value& value);
/// Quoted when it holds a comma, a quote or a line break.
std::string csvField(std::string_view text);

/// `a,b,c\r\n`
std::string csvHeader(const RowType& type);
std::string csvLine(std::span<const Value> values);
/// A line of texts that belong to no row type (lists of runs, comparisons).
std::string csvLine(std::span<const std::string> cells);
/// Header and rows.
std::string csvDocument(const RowType& type, std::span<const Values> rows);

/// Records of a CSV text; takes LF as well as CRLF and skips a byte order mark. Errors (badInput) name the line.
Result<std::vector<std::vector<std::string>>> parseCsv(std::string_view text);

/// Rows of one type from CSV with a header. Columns are found by name; missing ones are "not known", unknown ones ignored.
Result<std::vector<Values>> rowsFromCsv(const RowType& type, std::string_view text);

}  // namespace kernelscope
