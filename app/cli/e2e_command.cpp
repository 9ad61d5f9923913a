#include "app/cli/job_runner.h"
#include "app/cli/number_option.h"
#include "app/cli/own_kernel_option.h"
#include "app/cli/kernel_tables.h"

namespace kernelscope::cli {

namespace {

class EndToEndCommand : public Command {
public:
    std::string name() const override { return "e2e"; }
    std::string summary() const override { return "What a patch buys: native against patched generate()"; }

    void define(CLI::App& app) override {
        app.add_option("--patch", m_patch, "Operators to replace: op=variant,... (default: the best right variant of each; with --kernel: that one)")->type_name("LIST");
        m_kernel.define(app);
        const auto count = [&](const char* name, std::int64_t& target, std::int64_t least, const char* help) {
            app.add_option(name, target, help)->transform(wholeNumber(least, 1'000'000))->capture_default_str()->type_name("N");
        };
        count("--new-tokens", m_newTokens, 1, "Tokens to generate; end-of-sequence is ignored");
        count("--prompt-tokens", m_promptTokens, 1, "Tokens of the prompt");
        count("--batch", m_batch, 1, "Sequences at once");
        count("--runs", m_runs, 1, "Timed runs of each configuration");
        count("--warmup", m_warmup, 0, "Runs before those");
        addChoice(app, "--mode", m_mode, {"eager", "graph", "both"}, "How the model runs");
    }

    int run(const CommonOptions& common) override {
        JobRequest request = jobRequest(common, "e2e");
        request.settings = {{"new_tokens", m_newTokens}, {"prompt_tokens", m_promptTokens}, {"batch", m_batch}, {"runs", m_runs}, {"warmup", m_warmup}, {"mode", m_mode}};
        if (!m_patch.empty()) request.settings["patch"] = m_patch;
        m_kernel.put(request.settings);
        JobHooks hooks;
        hooks.table = [](const JobRun& run) { print(endToEndTable(run.rows)); };
        hooks.judge = [](const JobRun& run) { return exitCodeOf(run.rows); };
        return runJob(common, std::move(request), hooks);
    }

private:
    OwnKernelOption m_kernel;
    std::string m_patch, m_mode = "eager";
    std::int64_t m_newTokens = 50, m_promptTokens = 32, m_batch = 1, m_runs = 10, m_warmup = 2;
};

}  // namespace

std::unique_ptr<Command> makeEndToEndCommand() { return std::make_unique<EndToEndCommand>(); }

}  // namespace kernelscope::cli
