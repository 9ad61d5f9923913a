#include "core/client/running_job.h"

#include "core/records/format.h"
#include "core/records/kernel_fault.h"
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

bool RunningJob::provesPatch() const { return phase == kProvingPatch && !kernel.empty(); }

void RunningJob::noteProgressOf(const RowRecord& row) {
    const RowType* type = row.type == header.kind ? findRowType(row.type) : nullptr;
    const int column = type ? type->indexOf("status") : -1;
    if (column < 0) return;
    const auto* status = std::get_if<std::string>(&row.values[static_cast<std::size_t>(column)]);
    if (status && *status == toString(RunStatus::running)) unfinished.insert_or_assign(row.key, row);
    else unfinished.erase(row.key);
}

std::vector<RowRecord> RunningJob::finishRows(RunStatus status) {
    std::vector<RowRecord> rows;
    for (auto& [key, row] : unfinished) {
        const RowType* type = findRowType(row.type);
        row.values[static_cast<std::size_t>(type->indexOf("status"))] = std::string(toString(status));
        rows.push_back(std::move(row));
    }
    unfinished.clear();
    return rows;
}

std::string inWords(std::chrono::milliseconds time) {
    if (time < std::chrono::seconds(1)) return std::to_string(time.count()) + " ms";
    return (time.count() % 1000 == 0 ? std::to_string(time.count() / 1000) : formatSignificant(static_cast<double>(time.count()) / 1000)) + " s";
}

std::optional<Error> kernelToBlame(const RunningJob& job, const std::string& diedOf, std::optional<std::chrono::milliseconds> silence) {
    const bool died = !diedOf.empty();
    if (!died && !silence) return std::nullopt;
    const nlohmann::json& settings = job.request.settings;
    if (died && !job.everStarted && settings.is_object() && settings.contains("kernel"))
        return makeError(ErrorCode::cantTell, settings.value("kernel", std::string()) + " crashes when it is loaded (" + diedOf + ")", "look at what runs before its first call: constructors of global objects");
    if (!job.kernel.empty()) {
        const std::string words = died ? diedOf : "no sign of life for " + inWords(*silence);
        return kernelFault(job.kernel, died ? "crashes" : "hangs", words, settings);
    }
    if (!died || job.lastKernel.empty()) return std::nullopt;
    return makeError(ErrorCode::cantTell, "the engine died (" + diedOf + ") after " + job.lastKernel + " had run in it, which may have written where it should not (during: " + job.phase + ")",
                     "what was measured until then is kept; `" + validateCommand(job.lastKernel, settings) + "` has guard zones around every buffer");
}

std::string deviceOf(const RowRecord& row) {
    const RowType* type = findRowType(row.type);
    const int column = type ? type->indexOf("device") : -1;
    if (column < 0) return {};
    const auto* text = std::get_if<std::string>(&row.values[static_cast<std::size_t>(column)]);
    return text ? *text : std::string();
}

}  // namespace kernelscope
