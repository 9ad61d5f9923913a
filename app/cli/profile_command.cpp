#include "app/cli/job_runner.h"
#include "app/cli/number_option.h"
#include "app/cli/own_kernel_option.h"
#include "app/cli/profile_table.h"
#include "core/client/export.h"
#include "core/client/file.h"

namespace kernelscope::cli {

namespace {

class ProfileCommand : public Command {
public:
    std::string name() const override { return "profile"; }
    std::string summary() const override { return "Where the time goes: prefill and decode, by module type, block, leaf or kernel"; }

    void define(CLI::App& app) override {
        addChoice(app, "--phase", m_phase, {"decode", "prefill", "both"}, "What to profile");
        app.add_option("--prompt-tokens", m_promptTokens, "Tokens of the prompt")->transform(wholeNumber(1, 1'000'000))->capture_default_str()->type_name("N");
        app.add_option("--batch", m_batch, "Sequences at once")->transform(wholeNumber(1, 4096))->capture_default_str()->type_name("N");
        app.add_option("--iterations", m_iterations, "Measured passes")->transform(wholeNumber(1, 100'000))->capture_default_str()->type_name("N");
        app.add_option("--warmup", m_warmup, "Passes before those")->transform(wholeNumber(0, 100'000))->capture_default_str()->type_name("N");
        addChoice(app, "--level", m_level, {"type", "block", "leaf", "kernel"}, "How fine the rows are; kernel needs CUDA");
        addChoice(app, "--mode", m_mode, {"eager", "graph"}, "How the model runs; graph needs CUDA");
        app.add_option("--patch", m_patch, "Operators to replace: op=variant,... (default with --kernel: by that)")->type_name("LIST");
        m_kernel.define(app);
        app.add_option("--trace", m_trace, "Write a Chrome trace of one pass")->type_name("FILE");
        app.add_flag("--cross-check", m_crossCheck, "Hold the GPU time against the driver's own trace (CUPTI), where that works");
    }

    int run(const CommonOptions& common) override {
        if (!m_trace.empty())
            if (const auto ready = prepareToWrite(m_trace); !ready) return report(ready.error());
        JobRequest request = jobRequest(common, "profile");
        request.settings = {{"phase", m_phase}, {"prompt_tokens", m_promptTokens}, {"batch", m_batch}, {"iterations", m_iterations},
                            {"warmup", m_warmup}, {"level", m_level}, {"mode", m_mode}};
        if (!m_patch.empty()) request.settings["patch"] = m_patch;
        m_kernel.put(request.settings);
        if (m_crossCheck) request.settings["cross_check"] = true;
        JobHooks hooks;
        hooks.table = [this](const JobRun& run) {
            print(profileTable(run.rows, run.header.result));
            if (m_crossCheck) printCrossCheck(run);
        };
        hooks.afterwards = [this](const JobRun& run) {
            if (m_trace.empty()) return 0;
            return writeRun(m_trace, *run.store, run.header.id, ExportFormat::trace);
        };
        return runJob(common, std::move(request), hooks);
    }

private:
    OwnKernelOption m_kernel;
    static void printCrossCheck(const JobRun& run) {
        const auto rows = run.store->rows(run.header.id, "profile_cross_check");
        if (rows && !rows->empty()) print("\n" + crossCheckTable(*rows));
        if (const auto found = run.header.result.find("cross_check"); found != run.header.result.end()) {
            for (const auto& [phase, words] : found->items()) print(phase + ": " + words.value("summary", "") + "\n");
        }
    }

    bool m_crossCheck = false;
    std::string m_phase = "decode", m_level = "type", m_mode = "eager", m_patch, m_trace;
    std::int64_t m_promptTokens = 32, m_batch = 1, m_iterations = 50, m_warmup = 10;
};

}  // namespace

std::unique_ptr<Command> makeProfileCommand() { return std::make_unique<ProfileCommand>(); }

}  // namespace kernelscope::cli
