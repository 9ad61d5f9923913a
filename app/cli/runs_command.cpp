#include <fmt/core.h>

#include "app/cli/command.h"
#include "app/cli/job_runner.h"
#include "app/cli/kernel_tables.h"
#include "app/cli/profile_table.h"
#include "core/client/export.h"
#include "core/client/file.h"
#include "core/client/import.h"
#include "core/client/list_runs.h"
#include "core/records/csv.h"
#include "core/records/format.h"
#include "core/records/kernel_rows.h"
#include "core/records/plain_table.h"
#include "core/records/rows.h"

namespace kernelscope::cli {

namespace {

/// Any rows as a table: text to the left, numbers with four digits to the right.
std::string rowTable(const RowType& type, std::span<const RowRecord> rows) {
    PlainTable table;
    for (const Column& column : type.columns)
        table.addColumn(std::string(column.name), column.kind == ColumnKind::text ? PlainTable::Align::left : PlainTable::Align::right);
    for (const RowRecord& row : rows) {
        std::vector<std::string> cells;
        for (const Value& value : row.values) {
            const double* number = std::get_if<double>(&value);
            const bool* flag = std::get_if<bool>(&value);
            cells.push_back(number ? formatSignificant(*number, 4) : flag ? (*flag ? "yes" : "") : cellText(value));
        }
        table.addRow(std::move(cells));
    }
    return table.text();
}

std::string tableOf(const RowType& type, std::span<const RowRecord> rows, const RunHeader& header) {
    if (type.name == RowSchema<ProfileRow>::kName) return profileTable(rows, header.result);
    if (type.name == RowSchema<ValidateRow>::kName) return validateTable(rows);
    if (type.name == RowSchema<SweepRow>::kName) return sweepTable(rows);
    if (type.name == RowSchema<EndToEndRow>::kName) return endToEndTable(rows);
    return rowTable(type, rows);
}

class RunsCommand : public Command {
public:
    std::string name() const override { return "runs"; }
    std::string summary() const override { return "Saved runs: list, show, export, import, rename, tag, note, pin, delete, restore"; }

    void define(CLI::App& app) override {
        app.require_subcommand(1);
        const auto sub = [&](const std::string& name, const std::string& help, int (RunsCommand::*action)(const CommonOptions&)) {
            CLI::App* command = app.add_subcommand(name, help);
            command->fallthrough();
            command->final_callback([this, action] { m_action = action; });
            return command;
        };
        const auto withRun = [&](CLI::App* command) {
            command->add_option("run", m_run, "A run's id, the beginning of one, or last")->required()->type_name("RUN");
            return command;
        };
        sub("list", "All runs, newest first", &RunsCommand::list)->add_flag("--deleted", m_deleted, "The deleted ones instead");
        withRun(sub("show", "What a run holds", &RunsCommand::show));
        CLI::App* exported = withRun(sub("export", "A run as a document", &RunsCommand::exportOne));
        addChoice(*exported, "--format", m_format, {"csv", "json", "markdown", "html", "trace"}, "What to write; by default what the file's name says, else csv");
        exported->add_option("--output", m_output, "Where to; a folder gets a file named after the run, - is standard output")->type_name("FILE|FOLDER");
        exported->add_flag("--samples", m_samples, "Raw samples too");
        sub("import", "Runs that were exported as JSON, and Chrome traces of the torch profiler", &RunsCommand::importFiles)->add_option("files", m_words, "Files to read")->required()->type_name("FILE");
        withRun(sub("rename", "Another id", &RunsCommand::rename))->add_option("name", m_text, "The new id")->required()->type_name("NAME");
        withRun(sub("tag", "Set a run's tags; none: remove them", &RunsCommand::tag))->add_option("tags", m_words, "Tags")->type_name("TAG");
        withRun(sub("note", "Set a run's note", &RunsCommand::note))->add_option("text", m_text, "The note; empty: remove it")->required()->type_name("TEXT");
        withRun(sub("pin", "Mark a run as a baseline", &RunsCommand::pin))->add_flag("--off", m_off, "Unmark it");
        sub("delete", "Hide runs; restore brings them back", &RunsCommand::remove)->add_option("runs", m_words, "Runs")->required()->type_name("RUN");
        sub("restore", "Bring deleted runs back", &RunsCommand::restore)->add_option("runs", m_words, "Runs")->required()->type_name("RUN");
    }

    int run(const CommonOptions& common) override {
        if (!m_action) return report(makeError(ErrorCode::usage, "runs needs to know what to do", "for example: kernelscope-cli runs list"));
        if (const auto ready = prepareDocuments(common); !ready) return report(ready.error());
        return (this->*m_action)(common);
    }

private:
    int list(const CommonOptions& common) {
        const auto store = openStoreToRead(common);
        if (!store) return report(store.error());
        const auto runs = (*store)->runs(m_deleted ? Store::Which::deleted : Store::Which::kept);
        if (!runs) return report(runs.error());
        std::vector<RowRecord> rows;
        for (const RunSummary& run : *runs) rows.push_back({"runs", run.header.id, valuesOf(runListRow(run))});
        const RowType type = rowTypeOf<RunListRow>();
        if (!common.documentOnOutput() && !common.quiet) {
            if (rows.empty()) say(common, "There are no runs in " + storePath(common).string() + " yet.");
            else print(rowTable(type, rows));
        }
        std::string csv = csvHeader(type);
        for (const RowRecord& row : rows) csv += csvLine(std::span<const Value>(row.values));
        if (const int code = writeDocument(common.csv, csv)) return code;
        return common.json.empty() ? 0 : writeDocument(common.json, jsonDocument(headerWithoutRun(common, "runs"), type, rows));
    }

    int show(const CommonOptions& common) {
        const auto store = openStoreToRead(common);
        if (!store) return report(store.error());
        const auto run = (*store)->run(m_run);
        if (!run) return report(run.error());
        const RunHeader& header = run->header;
        const RowType* type = findRowType(header.kind);
        if (!type) return report(makeError(ErrorCode::badInput, "run " + header.id + " is of kind '" + header.kind + "', which this version does not know"));
        const auto rows = (*store)->rows(header.id, header.kind);
        if (!rows) return report(rows.error());
        if (!common.documentOnOutput() && !common.quiet) {
            std::string text = "run " + header.id + ": " + header.kind + ", " + describe(header) + "\n" + header.when + ", " + std::string(toString(header.status)) +
                               (header.reason.empty() ? "" : ": " + header.reason) + "\n" + header.command + "\n";
            if (!run->note.empty()) text += run->note + "\n";
            print(text + "\n" + tableOf(*type, *rows, header));
        }
        return writeBoth(common, **store, header.id);
    }

    int writeBoth(const CommonOptions& common, const Store& store, const std::string& id) {
        for (const auto& [destination, format] : {std::pair{common.csv, ExportFormat::csv}, {common.json, ExportFormat::json}}) {
            if (const int code = writeRun(destination, store, id, format, {m_samples})) return code;
        }
        return 0;
    }

    int exportOne(const CommonOptions& common) {
        const auto store = openStoreToRead(common);
        if (!store) return report(store.error());
        const auto run = (*store)->run(m_run);
        if (!run) return report(run.error());
        const std::string output = m_output.empty() && !(common.csv.empty() && common.json.empty()) ? std::string() : m_output.empty() ? "-" : m_output;
        if (!output.empty()) {
            const auto format = outputFormat(m_format, output, {ExportFormat::csv, ExportFormat::json, ExportFormat::markdown, ExportFormat::html, ExportFormat::trace});
            if (!format) return report(format.error());
            const std::string destination = output == "-" ? output : exportPath(output, run->header, *format).string();
            if (output != "-")
                if (const auto ready = prepareToWrite(destination); !ready) return report(ready.error());
            if (const int code = writeRun(destination, **store, run->header.id, *format, {m_samples})) return code;
            if (destination != "-") say(common, "wrote " + destination);
        }
        return writeBoth(common, **store, run->header.id);
    }

    int importFiles(const CommonOptions& common) {
        auto store = Store::open(storePath(common));
        if (!store) return report(store.error());
        int code = 0;
        for (const std::string& file : m_words) {
            const auto made = importFile(**store, file);
            if (made) {
                if (!common.quiet) print(made->id + "\n");
                if (const auto missing = made->result.find("missing"); missing != made->result.end() && missing->is_array())
                    for (const auto& words : *missing) say(common, file + ": " + (words.is_string() ? words.get<std::string>() : std::string()));
                continue;
            }
            code = report(made.error());
        }
        return code;
    }

    template <typename Change>
    int change(const CommonOptions& common, const std::vector<std::string>& runs, Change apply) {
        const auto store = openStoreToRead(common);
        if (!store) return report(store.error());
        int code = 0;
        for (const std::string& run : runs)
            if (const auto changed = apply(**store, run); !changed) code = report(changed.error());
        return code;
    }

    int rename(const CommonOptions& common) { return change(common, {m_run}, [this](Store& store, const std::string& run) { return store.rename(run, m_text); }); }
    int tag(const CommonOptions& common) { return change(common, {m_run}, [this](Store& store, const std::string& run) { return store.setTags(run, m_words); }); }
    int note(const CommonOptions& common) { return change(common, {m_run}, [this](Store& store, const std::string& run) { return store.setNote(run, m_text); }); }
    int pin(const CommonOptions& common) { return change(common, {m_run}, [this](Store& store, const std::string& run) { return store.setPinned(run, !m_off); }); }
    int remove(const CommonOptions& common) { return change(common, m_words, [](Store& store, const std::string& run) { return store.remove(run); }); }
    int restore(const CommonOptions& common) { return change(common, m_words, [](Store& store, const std::string& run) { return store.restore(run); }); }

    int (RunsCommand::*m_action)(const CommonOptions&) = nullptr;
    std::string m_run, m_text, m_format, m_output;
    std::vector<std::string> m_words;
    bool m_deleted = false, m_samples = false, m_off = false;
};

}  // namespace

std::unique_ptr<Command> makeRunsCommand() { return std::make_unique<RunsCommand>(); }

}  // namespace kernelscope::cli
