#include <fmt/core.h>

#include "app/cli/job_runner.h"
#include "app/cli/kernel_options.h"
#include "app/cli/kernel_tables.h"

namespace kernelscope::cli {

namespace {

class TuneCommand : public Command {
public:
    std::string name() const override { return "tune"; }
    std::string summary() const override { return "Find the quickest configuration of our CUDA kernels at each shape on this GPU, and keep it"; }

    void define(CLI::App& app) override {
        app.add_option("--op", m_op, "Operators, or all")->capture_default_str()->type_name("NAME,...");
        app.add_option("--hidden", m_hidden, "Only these sizes of the tables (MLP widths for silu_mul)")->type_name("LIST");
        app.add_option("--rows", m_rows, "Only these row counts of the tables")->type_name("LIST");
        app.add_flag("--check", m_check, "Measure what the table in force chooses, and change nothing");
        app.add_flag("--reset", m_reset, "Go back to the built-in table");
    }

    int run(const CommonOptions& common) override {
        if (m_check && m_reset) return report(makeError(ErrorCode::usage, "--check and --reset exclude each other"));
        JobRequest request = jobRequest(common, "tune");
        request.settings = {{"op", m_op}, {"check", m_check}, {"reset", m_reset}};
        if (const auto put = putList(request.settings, "hidden", "--hidden", m_hidden); !put) return report(put.error());
        if (const auto put = putList(request.settings, "rows", "--rows", m_rows); !put) return report(put.error());
        JobHooks hooks;
        hooks.table = [](const JobRun& run) { print(tuneTable(run.rows)); };
        hooks.judge = [](const JobRun&) { return 0; };
        return runJob(common, std::move(request), hooks);
    }

private:
    std::string m_op = "all", m_hidden, m_rows;
    bool m_check = false, m_reset = false;
};

}  // namespace

std::unique_ptr<Command> makeTuneCommand() { return std::make_unique<TuneCommand>(); }

}  // namespace kernelscope::cli
