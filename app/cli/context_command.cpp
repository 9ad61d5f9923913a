#include "app/cli/job_runner.h"
#include "app/cli/kernel_options.h"
#include "app/cli/kernel_tables.h"
#include "app/cli/number_option.h"
#include "app/cli/own_kernel_option.h"

namespace kernelscope::cli {

namespace {

class ContextCommand : public Command {
public:
    std::string name() const override { return "context"; }
    std::string summary() const override { return "A decode step against the length of its context and the batch: time, shares, memory"; }

    void define(CLI::App& app) override {
        app.add_option("--context", m_contexts, "Tokens in the cache before the step (32,128,512,2048)")->type_name("LIST");
        app.add_option("--batch", m_batches, "Sequences at once (1,4)")->type_name("LIST");
        const auto count = [&](const char* name, std::int64_t& target, std::int64_t least, const char* help) {
            app.add_option(name, target, help)->transform(wholeNumber(least, 100'000))->capture_default_str()->type_name("N");
        };
        count("--iterations", m_iterations, 2, "Measured steps of each point, with hooks and without");
        count("--warmup", m_warmup, 0, "Steps before those");
        app.add_option("--patch", m_patch, "Operators to replace: op=variant,... (default with --kernel: by that)")->type_name("LIST");
        m_kernel.define(app);
    }

    int run(const CommonOptions& common) override {
        JobRequest request = jobRequest(common, "context");
        request.settings = {{"iterations", m_iterations}, {"warmup", m_warmup}};
        if (const auto put = putList(request.settings, "context", "--context", m_contexts); !put) return report(put.error());
        if (const auto put = putList(request.settings, "batch", "--batch", m_batches); !put) return report(put.error());
        if (!m_patch.empty()) request.settings["patch"] = m_patch;
        m_kernel.put(request.settings);
        JobHooks hooks;
        hooks.table = [](const JobRun& run) {
            std::vector<RowRecord> rows = run.rows;
            if (auto shares = run.store->rows(run.header.id, "context_share")) rows.insert(rows.end(), shares->begin(), shares->end());
            print(contextTable(rows));
        };
        hooks.judge = [](const JobRun& run) { return exitCodeOf(run.rows); };
        return runJob(common, std::move(request), hooks);
    }

private:
    OwnKernelOption m_kernel;
    std::string m_contexts, m_batches, m_patch;
    std::int64_t m_iterations = 20, m_warmup = 3;
};

}  // namespace

std::unique_ptr<Command> makeContextCommand() { return std::make_unique<ContextCommand>(); }

}  // namespace kernelscope::cli
