#include <fmt/core.h>

#include "app/cli/job_runner.h"
#include "app/cli/number_option.h"
#include "app/cli/own_kernel_option.h"
#include "core/records/csv.h"
#include "core/records/format.h"
#include "core/records/json_read.h"
#include "core/records/list.h"
#include "core/records/rows.h"

namespace kernelscope::cli {

namespace {

using nlohmann::json;

/// "first token 42.1 ms, prefill 760 tokens/s, decode 6.21 ms a token (161 tokens/s), 0.35 s in all, stopped: length"
std::string figures(const json& result) {
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
    const auto number = [&](const char* key) -> std::optional<double> {
        const auto found = result.find(key);
        return found == result.end() ? std::nullopt : numberOf(*found);
    };
    if (const auto value = number("ttft_ms")) add("first token " + formatMicroseconds(*value * 1e3));
    if (const auto value = number("prefill_tokens_per_s")) add("prefill " + formatSignificant(*value) + " tokens/s");
    if (const auto value = number("decode_ms_per_token")) {
        add("decode " + formatMicroseconds(*value * 1e3) + " a token");
        if (const auto rate = number("decode_tokens_per_s")) text += " (" + formatSignificant(*rate) + " tokens/s)";
    }
    if (const auto value = number("total_ms")) add(formatMicroseconds(*value * 1e3) + " in all");
    if (const auto found = result.find("finish_reason"); found != result.end() && found->is_string()) add("finish: " + found->get<std::string>());
    return text;
}

class GenerateCommand : public Command {
public:
    std::string name() const override { return "generate"; }
    std::string summary() const override { return "Run the model: text or token ids out"; }

    void define(CLI::App& app) override {
        m_promptOption = app.add_option("--prompt", m_prompt, "What to continue or answer (in the chat template, unless --raw)")->type_name("TEXT");
        auto* ids = app.add_option("--prompt-ids", m_promptIds, "The prompt as token ids; needs no tokenizer")->type_name("LIST");
        m_promptOption->excludes(ids);
        app.add_flag("--raw", m_raw, "The prompt as it stands, without the chat template")->needs(m_promptOption);
        m_newTokensOption = app.add_option("--new-tokens", m_newTokens, "Tokens to generate at most")->transform(wholeNumber(0, 10'000'000))->type_name("N");
        app.add_flag("--ignore-eos", m_ignoreEos, "End-of-sequence tokens do not end it");
        addChoice(app, "--mode", m_mode, {"eager", "graph"}, "How the model runs; graph needs CUDA");
        app.add_option("--patch", m_patch, "Operators to replace: op=variant,... (default with --kernel: by that)")->type_name("LIST");
        m_kernel.define(app);
        m_temperatureOption = app.add_option("--temperature", m_temperature, "Sample instead of taking the likeliest token")->transform(decimalNumber(0.0, 100.0))->type_name("T");
        m_topPOption = app.add_option("--top-p", m_topP, "Sample from the likeliest tokens of this total probability")->transform(decimalNumber(0.0, 1.0))->type_name("P");
        app.add_option("--logits", m_logits, "Write the generated positions' logits (float32 .npy)")->type_name("FILE");
        app.add_option("--prompt-logits", m_promptLogits, "Write every prompt position's logits (float32 .npy)")->type_name("FILE");
    }

    int run(const CommonOptions& common) override {
        JobRequest request = jobRequest(common, "generate");
        json& settings = request.settings;
        if (m_promptIds.empty() && m_promptOption->count() == 0)
            return report(makeError(ErrorCode::usage, "generate needs a prompt", "give --prompt TEXT or --prompt-ids LIST"));
        if (!m_promptIds.empty()) {
            const auto ids = parseList(m_promptIds);
            if (!ids) return report({ErrorCode::usage, "--prompt-ids: " + ids.error().message, ids.error().advice});
            settings["prompt_ids"] = *ids;
        } else {
            if (m_prompt.empty()) return report(makeError(ErrorCode::usage, "the prompt is empty", "give --prompt a text, or --prompt-ids token ids to begin with"));
            if (const auto valid = mustBeUtf8("the prompt", m_prompt); !valid) return report(valid.error());
            settings["prompt"] = m_prompt;
        }
        if (m_raw) settings["raw"] = true;
        if (m_newTokensOption->count()) settings["new_tokens"] = m_newTokens;
        if (m_ignoreEos) settings["ignore_eos"] = true;
        settings["mode"] = m_mode;
        if (!m_patch.empty()) settings["patch"] = m_patch;
        m_kernel.put(settings);
        if (m_temperatureOption->count()) settings["temperature"] = m_temperature;
        if (m_topPOption->count()) settings["top_p"] = m_topP;
        if (!m_logits.empty()) settings["logits"] = m_logits;
        if (!m_promptLogits.empty()) settings["prompt_logits"] = m_promptLogits;

        JobHooks hooks;
        const bool streams = !common.quiet && !common.documentOnOutput();
        bool wroteText = false, endsLine = true;
        hooks.row = [&](const RowRecord& record) {
            const auto token = streams ? rowFrom<TokenRow>(record.values) : std::nullopt;
            if (record.type != RowSchema<TokenRow>::kName || !token || token->text.empty()) return;
            print(token->text);
            wroteText = true;
            endsLine = token->text.back() == '\n';
        };
        hooks.table = [&](const JobRun& run) {
            if (wroteText && !endsLine) print("\n");
            const json& result = run.header.result;
            if (const auto ids = result.find("token_ids"); !wroteText && ids != result.end() && ids->is_array()) {
                std::string line;  // no tokenizer, or nothing readable: the ids are the answer
                for (const json& id : *ids) line += (line.empty() ? "" : " ") + dumpJson(id);
                print(line + "\n");
            }
            say(common, figures(result));
        };
        return runJob(common, std::move(request), hooks);
    }

private:
    OwnKernelOption m_kernel;
    std::string m_prompt, m_promptIds, m_mode = "eager", m_patch, m_logits, m_promptLogits;
    bool m_raw = false, m_ignoreEos = false;
    std::int64_t m_newTokens = 50;
    double m_temperature = 0, m_topP = 1;
    CLI::Option *m_promptOption = nullptr, *m_newTokensOption = nullptr, *m_temperatureOption = nullptr, *m_topPOption = nullptr;
};

}  // namespace

std::unique_ptr<Command> makeGenerateCommand() { return std::make_unique<GenerateCommand>(); }

}  // namespace kernelscope::cli
