#include "app/cli/engine_call.h"
#include "core/client/export.h"
#include "core/records/csv.h"
#include "core/records/format.h"
#include "core/records/json_read.h"
#include "core/records/plain_table.h"

namespace kernelscope::cli {

namespace {

using nlohmann::json;

constexpr const char* kKeys[] = {"architecture", "parameters", "bytes",        "dtype",      "layers",       "hidden_size", "heads", "kv_heads", "head_dim",
                                 "intermediate_size", "vocab_size", "tied", "context", "rope_theta", "rms_norm_eps", "tokenizer", "files", "tensors"};

std::string joined(const json& list) {
    std::string text;
    for (const json& item : list) text += (text.empty() ? "" : ", ") + (item.is_string() ? item.get<std::string>() : dumpJson(item));
    return text;
}

/// A figure for people: sizes with their unit, long lists as their length.
std::string forPeople(const std::string& key, const json& value) {
    const auto number = numberOf(value);
    if (value.is_null()) return "not known";
    if (key == "bytes" && number) return formatBytes(*number) + " (" + dumpJson(value) + ")";
    if (const auto whole = integerOf(value); whole && value.is_number_integer() && *whole >= 10'000) return formatCount(*whole);
    if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
    if (value.is_string()) return value.get<std::string>();
    if (value.is_array() && key == "tensors") return std::to_string(value.size());
    if (value.is_array()) return value.empty() ? "none" : joined(value);
    if (value.is_object()) {
        std::string text;
        for (const auto& [name, part] : value.items()) text += (text.empty() ? "" : ", ") + name + " " + forPeople(name, part);
        return text;
    }
    return dumpJson(value);
}

class InspectCommand : public Command {
public:
    std::string name() const override { return "inspect"; }
    std::string summary() const override { return "What a model folder or preset holds"; }
    void define(CLI::App& app) override { app.add_option("model", m_model, "Preset, folder or hub id (the same as --model)")->type_name("MODEL"); }

    int run(const CommonOptions& given) override {
        CommonOptions common = given;
        if (!m_model.empty()) common.model = m_model;
        if (const auto ready = prepareDocuments(common); !ready) return report(ready.error());
        const auto answer = askEngine(common, "model.inspect", {{"model", common.model}});
        if (!answer) return report(answer.error());
        if (!answer->is_object()) return report(makeError(ErrorCode::environment, "the engine's answer to model.inspect is no document"));

        RunHeader header = headerWithoutRun(common, "inspect");
        header.model = common.model;
        header.result = *answer;
        std::string csv = "key,value\r\n";
        PlainTable table;
        table.addColumn(common.model);
        table.addColumn("");
        for (const char* key : kKeys) {
            const auto found = answer->find(key);
            if (found == answer->end()) continue;
            table.addRow({key, forPeople(key, *found)});
            const std::string cells[] = {key, found->is_string() ? found->get<std::string>() : found->is_null() ? "" : dumpJson(*found)};
            csv += csvLine(cells);
        }
        if (!common.documentOnOutput() && !common.quiet) print(table.text());
        if (const int code = writeDocument(common.csv, csv)) return code;
        return common.json.empty() ? 0 : writeDocument(common.json, jsonDocument(header));
    }

private:
    std::string m_model;
};

}  // namespace

std::unique_ptr<Command> makeInspectCommand() { return std::make_unique<InspectCommand>(); }

}  // namespace kernelscope::cli
