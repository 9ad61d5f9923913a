#include "app/cli/job_runner.h"
#include "app/cli/kernel_options.h"
#include "app/cli/kernel_tables.h"
#include "app/cli/number_option.h"
#include "app/cli/watch.h"

namespace kernelscope::cli {

namespace {

class ValidateCommand : public Command {
public:
    std::string name() const override { return "validate"; }
    std::string summary() const override { return "Is a kernel right: against float64, beside the native sequence, and in awkward cases"; }

    void define(CLI::App& app) override {
        m_kernels.define(app);
        addChoice(app, "--cases", m_cases, {"standard", "adversarial", "all"}, "Which cases");
        app.add_option("--deadline", m_deadline, "A cell is hung when a single call of its kernel is silent this long; slow cells give signs of life between calls")->transform(decimalNumber(0.001, 1e6))->capture_default_str()->type_name("SECONDS");
    }

    int run(const CommonOptions& common) override {
        auto settings = m_kernels.settings();
        if (!settings) return report(settings.error());
        JobRequest request = jobRequest(common, "validate");
        request.settings = std::move(*settings);
        request.settings["cases"] = m_cases;
        request.settings["deadline"] = m_deadline;
        JobHooks hooks;
        hooks.table = [](const JobRun& run) { print(validateTable(run.rows)); };
        hooks.judge = [](const JobRun& run) { return exitCodeOf(run.rows); };
        return m_kernels.watch() ? watchKernel(common, request, hooks, m_kernels.kernel()) : runJob(common, std::move(request), hooks);
    }

private:
    KernelOptions m_kernels;
    std::string m_cases = "standard";
    double m_deadline = 10;
};

}  // namespace

std::unique_ptr<Command> makeValidateCommand() { return std::make_unique<ValidateCommand>(); }

}  // namespace kernelscope::cli
