#include <algorithm>
#include <filesystem>

#include "app/cli/engine_call.h"
#include "app/cli/job_runner.h"
#include "core/client/recent_models.h"
#include "core/records/csv.h"
#include "core/records/format.h"
#include "core/records/json_read.h"
#include "core/records/plain_table.h"

namespace kernelscope::cli {

namespace {

using nlohmann::json;

std::string textAt(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

struct ModelRow {
    std::string model, source;
    std::optional<std::int64_t> bytes;
    std::string folder;
    std::string problem;  ///< why it cannot be run; empty when it can
};

}  // namespace
}  // namespace kernelscope::cli

template <>
struct kernelscope::RowSchema<kernelscope::cli::ModelRow> {
    using Row = kernelscope::cli::ModelRow;
    static constexpr std::string_view kName = "model";
    static constexpr auto kFields = std::tuple{field("model", &Row::model), field("source", &Row::source), field("bytes", &Row::bytes), field("folder", &Row::folder),
                                               field("problem", &Row::problem)};
};

namespace kernelscope::cli {

namespace {

class ModelCommand : public Command {
public:
    std::string name() const override { return "model"; }
    std::string summary() const override { return "Models: list what is here, get one from the hub"; }

    void define(CLI::App& app) override {
        app.require_subcommand(1);
        CLI::App* list = app.add_subcommand("list", "Presets, models in the hub cache of the engine's machine, folders used lately");
        CLI::App* get = app.add_subcommand("get", "Fetch a model into the hub cache of the engine's machine, every file verified (HF_ENDPOINT, HF_HUB_CACHE, HF_TOKEN, proxies)");
        get->add_option("id", m_id, "Owner and name, such as Qwen/Qwen2.5-0.5B-Instruct")->required()->type_name("HUB-ID");
        m_revisionOption = get->add_option("--revision", m_revision, "A branch, tag or commit (main)")->type_name("REV");
        list->fallthrough();
        get->fallthrough();
        list->final_callback([this] { m_action = &ModelCommand::list; });
        get->final_callback([this] { m_action = &ModelCommand::get; });
    }

    int run(const CommonOptions& common) override {
        if (!m_action) return report(makeError(ErrorCode::usage, "model needs to know what to do", "for example: kernelscope-cli model list"));
        if (const auto ready = prepareDocuments(common); !ready) return report(ready.error());
        return (this->*m_action)(common);
    }

private:
    int list(const CommonOptions& common) {
        const auto answer = askEngine(common, "model.list", json::object());
        if (!answer) return report(answer.error());
        const json models = answer->is_object() ? answer->value("models", json::array()) : json();
        if (!models.is_array()) return report(makeError(ErrorCode::environment, "the engine's answer to model.list is no list"));
        std::vector<ModelRow> rows;
        for (const json& model : models) {
            if (!model.is_object()) continue;
            const auto bytes = model.find("bytes");
            rows.push_back({textAt(model, "model"), textAt(model, "source"), bytes == model.end() ? std::nullopt : integerOf(*bytes), textAt(model, "folder"), textAt(model, "problem")});
        }
        if (const auto store = openStoreToRead(common))
            for (const std::string& folder : recentModelFolders(**store)) rows.push_back({folder, "recent", std::nullopt, folder, {}});

        const RowType type = rowTypeOf<ModelRow>();
        std::vector<RowRecord> records;
        PlainTable table;
        table.addColumn("model");
        table.addColumn("source");
        table.addColumn("size", PlainTable::Align::right);
        table.addColumn("");
        std::string csv = csvHeader(type);
        for (const ModelRow& row : rows) {
            records.push_back({"model", row.model, valuesOf(row)});
            csv += csvLine(std::span<const Value>(records.back().values));
            table.addRow({row.model, row.source, row.bytes ? formatBytes(static_cast<double>(*row.bytes)) : "", row.source == "preset" ? "random weights" : row.problem.empty() ? "" : "cannot be run: " + row.problem});
        }
        if (!common.documentOnOutput() && !common.quiet) print(table.text());
        say(common, "hub cache: " + textAt(*answer, "hub_cache"));
        if (const int code = writeDocument(common.csv, csv)) return code;
        return common.json.empty() ? 0 : writeDocument(common.json, jsonDocument(headerWithoutRun(common, "model"), type, records));
    }

    int get(const CommonOptions& common) {
        JobRequest request;
        request.kind = "model_get";
        request.model = m_id;
        if (m_revisionOption->count()) request.settings["revision"] = m_revision;
        JobHooks hooks;
        hooks.keeps = false;
        hooks.started = [&](const RunHeader& header) { say(common, "fetching " + header.model + " from " + header.device); };
        hooks.table = [&](const JobRun& run) {
            say(common, run.finished.headline + ", verified");
            print(textAt(run.finished.result, "folder") + "\n");
        };
        hooks.afterwards = [&](const JobRun& run) {
            std::string csv = "key,value\r\n";
            for (const auto& [key, value] : run.finished.result.items()) {
                const std::string cells[] = {key, value.is_string() ? value.get<std::string>() : dumpJson(value)};
                csv += csvLine(cells);
            }
            if (const int code = writeDocument(common.csv, csv)) return code;
            if (common.json.empty()) return 0;
            RunHeader header = headerWithoutRun(common, "model_get");
            header.model = m_id;
            header.result = run.finished.result;
            return writeDocument(common.json, jsonDocument(header));
        };
        return runJob(common, std::move(request), hooks);
    }

    int (ModelCommand::*m_action)(const CommonOptions&) = nullptr;
    std::string m_id, m_revision = "main";
    CLI::Option* m_revisionOption = nullptr;
};

}  // namespace

std::unique_ptr<Command> makeModelCommand() { return std::make_unique<ModelCommand>(); }

}  // namespace kernelscope::cli
