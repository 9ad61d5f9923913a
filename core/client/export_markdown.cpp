#include "core/client/export_pieces.h"
#include "core/records/csv.h"
#include "core/records/format.h"
#include "core/records/json_read.h"

namespace kernelscope {

namespace {

std::string escaped(const std::string& text) {
    std::string safe;
    for (const char c : text) {
        if (c == '|' || c == '\\' || c == '<' || c == '`' || c == '*' || c == '_') safe += '\\';
        safe += c == '\n' || c == '\r' ? ' ' : c;
    }
    return safe;
}

std::string cellForPeople(const Value& value) {
    if (const double* number = std::get_if<double>(&value)) return formatSignificant(*number, 4);
    return cellText(value);
}

}  // namespace

Result<void> markdownDocument(const RunSummary& run, const RowType& type, const RowPages& rows, std::int64_t mostRows, const TextSink& sink) {
    const RunHeader& header = run.header;
    std::string text = "# " + escaped(documentTitle(header)) + "\n\n";
    if (!header.headline.empty()) text += escaped(header.headline) + "\n\n";
    const auto fact = [&](const std::string& name, const std::string& value) {
        if (!value.empty()) text += "- " + name + ": " + value + "\n";
    };
    fact("Model", escaped(header.model) + (header.weights == "random" ? " (random weights)" : ""));
    fact("Device", escaped(header.device) + ", " + escaped(header.dtype));
    fact("Status", std::string(toString(header.status)) + (header.reason.empty() ? "" : ": " + escaped(header.reason)));
    fact("When", header.when);
    fact("Run", header.id.empty() ? std::string() : "`" + header.id + "`");
    fact("Command", "`" + header.command + "`");
    for (const auto& [key, value] : header.environment.items())
        fact(escaped(key), escaped(value.is_string() ? value.get<std::string>() : dumpJson(value)));
    fact("Note", escaped(run.note));
    if (const auto runs = header.result.find("runs"); runs != header.result.end() && runs->is_array())
        for (const auto& each : *runs)
            fact(&each == &runs->front() ? "Baseline" : "Candidate", escaped(each.value("id", "") + ", " + each.value("when", "") + ", " + each.value("model", "") + " on " + each.value("device", "")) +
                                                                         ": `" + each.value("command", "") + "`");

    // Columns that nobody filled would be a wide nothing.
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < type.columns.size(); ++i)
        if (rows.filled[i]) shown.push_back(i);
    PieceWriter out(sink);
    if (shown.empty()) {
        if (const auto whole = out.add(text); !whole) return whole;
        return out.flush();
    }
    if (mostRows >= 0 && rows.count > mostRows) text += "\nThe first " + formatCount(mostRows) + " of " + formatCount(rows.count) + " rows.\n";
    text += "\n|";
    for (const std::size_t i : shown) text += " " + escaped(std::string(type.columns[i].name)) + " |";
    text += "\n|";
    for (const std::size_t i : shown) text += type.columns[i].kind == ColumnKind::text ? " --- |" : " ---: |";
    text += "\n";
    if (const auto begun = out.add(text); !begun) return begun;
    const auto written = firstRows(rows, mostRows, [&](const RowRecord& row) {
        std::string line = "|";
        for (const std::size_t i : shown) line += " " + escaped(cellForPeople(row.values[i])) + " |";
        return out.add(line + "\n");
    });
    return written ? out.flush() : written;
}

}  // namespace kernelscope
