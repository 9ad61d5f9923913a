#include <fmt/core.h>

#include "app/cli/command.h"
#include "app/cli/number_option.h"
#include "core/client/compare.h"
#include "core/client/export.h"
#include "core/client/file.h"
#include "core/records/format.h"
#include "core/records/plain_table.h"
#include "core/records/verdict.h"

namespace kernelscope::cli {

namespace {

std::string table(const Comparison& comparison) {
    using Align = PlainTable::Align;
    PlainTable table;
    const bool several = comparison.runs.size() > 2;
    if (several) table.addColumn("candidate run");
    table.addColumn("key");
    table.addColumn("metric");
    for (const char* title : {"baseline", "candidate", "ratio", "95 %"}) table.addColumn(title, Align::right);
    table.addColumn("verdict");
    table.addColumn("reason");
    const auto figure = [](const CompareRow& row, const std::optional<double>& value) {
        if (!value) return std::string();
        return formatMicroseconds(row.unit == "ms" ? *value * 1e3 : *value);
    };
    for (const CompareRow& row : comparison.rows) {
        std::vector<std::string> cells;
        if (several) cells.push_back(row.candidateRun);
        for (const std::string& cell : {row.key, row.metric, figure(row, row.baseline), figure(row, row.candidate), row.ratio ? formatRatio(*row.ratio) : std::string(),
                                        row.ratioCiLow && row.ratioCiHigh ? fmt::format("{} to {}", formatRatio(*row.ratioCiLow), formatRatio(*row.ratioCiHigh)) : std::string(),
                                        verdictWords(row.verdict), row.reason})
            cells.push_back(cell);
        table.addRow(std::move(cells));
    }
    return table.text();
}

class CompareCommand : public Command {
public:
    std::string name() const override { return "compare"; }
    std::string summary() const override { return "Two or more runs: the first is the baseline; a ratio above 1 means that the candidate is faster. Runs of one measurement may stand together, A,B,C: their intervals then hold what differs between processes"; }

    void define(CLI::App& app) override {
        app.add_option("runs", m_runs, "Runs of one kind, the baseline first; repeats of one measurement with commas between")->required()->type_name("RUN");
        m_fail = app.add_option("--fail-on-regression", m_percent, "Judge: exit 1 when a candidate is slower by more than this percentage, 3 when that cannot be told; without it the exit code is 0 whatever the verdicts")
                     ->transform(decimalNumber(0.0, 1e6))->type_name("PCT");
        addChoice(app, "--format", m_format, {"csv", "json", "markdown", "html"}, "What --output gets; by default what its name says, else csv");
        app.add_option("--output", m_output, "Write the comparison as a document; - is standard output")->type_name("FILE");
    }

    int run(const CommonOptions& common) override {
        if (const auto ready = prepareDocuments(common); !ready) return report(ready.error());
        if (!m_output.empty()) {
            const auto format = outputFormat(m_format, m_output, {ExportFormat::csv, ExportFormat::json, ExportFormat::markdown, ExportFormat::html});
            if (!format) return report(format.error());
            m_outputFormat = *format;
            if (m_output != "-")
                if (const auto ready = prepareToWrite(m_output); !ready) return report(ready.error());
        }
        const auto store = openStoreToRead(common);
        if (!store) return report(store.error());
        const auto comparison = compareRuns(**store, m_runs);
        if (!comparison) return report(comparison.error());
        for (const std::string& note : comparison->notes) say(common, note);
        if (!common.documentOnOutput() && m_output != "-" && !common.quiet) print(table(*comparison));
        say(common, verdictCounts(*comparison));

        if (const int code = writeDocuments(common, *comparison)) return code;
        if (m_fail->count() == 0) return 0;
        switch (judgeRegression(*comparison, m_percent)) {
            case Judgement::fine: return 0;
            case Judgement::regression: return report(makeError(ErrorCode::regression, fmt::format("a candidate is slower than the baseline by more than {} %", m_percent)));
            case Judgement::cantTell: return report(makeError(ErrorCode::cantTell, "it cannot be told whether a candidate became slower", "the rows' reasons say why; measure each several times and compare A,B,C with D,E,F"));
        }
        return 0;
    }

private:
    int writeDocuments(const CommonOptions& common, const Comparison& comparison) const {
        for (const auto& [destination, format] : {std::pair{common.csv, ExportFormat::csv}, {common.json, ExportFormat::json}, {m_output, m_outputFormat}})
            if (!destination.empty())
                if (const int code = writeDocument(destination, comparisonDocument(comparison, format, common.commandLine))) return code;
        return 0;
    }

    std::string m_format, m_output;
    ExportFormat m_outputFormat = ExportFormat::csv;
    std::vector<std::string> m_runs;
    double m_percent = 0;
    CLI::Option* m_fail = nullptr;
};

}  // namespace

std::unique_ptr<Command> makeCompareCommand() { return std::make_unique<CompareCommand>(); }

}  // namespace kernelscope::cli
