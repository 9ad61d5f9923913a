#include "core/client/running_job.h"

#include "core/records/row_key.h"
#include "core/records/rows.h"

namespace kernelscope {

bool isResumable(std::string_view kind) { return kind == "validate" || kind == "sweep"; }

std::optional<RowRecord> rowOfLostCell(const RunningJob& job, const std::string& cell, const std::string& status, const std::string& reason) {
    const std::string& kind = job.header.kind;
    const RowType* type = findRowType(kind);
    if (!type || cell.empty()) return std::nullopt;
    auto values = valuesFromKey(*type, cell);
    if (!values) return std::nullopt;
    for (const auto& [name, text] : {std::pair<std::string_view, const std::string&>{"status", status}, {"reason", reason}, {"device", job.device}})
        if (const int column = type->indexOf(name); column >= 0) (*values)[static_cast<std::size_t>(column)] = text;
    return RowRecord{kind, cell, std::move(*values)};
}

std::string deviceOf(const RowRecord& row) {
    const RowType* type = findRowType(row.type);
    const int column = type ? type->indexOf("device") : -1;
    if (column < 0) return {};
    const auto* text = std::get_if<std::string>(&row.values[static_cast<std::size_t>(column)]);
    return text ? *text : std::string();
}

}  // namespace kernelscope
