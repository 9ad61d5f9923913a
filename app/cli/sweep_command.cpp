#include <algorithm>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "app/cli/job_runner.h"
#include "app/cli/kernel_options.h"
#include "app/cli/kernel_tables.h"
#include "app/cli/number_option.h"
#include "app/cli/watch.h"
#include "core/client/spread.h"
#include "core/client/recent_models.h"

namespace kernelscope::cli {

namespace {

class SweepCommand : public Command {
public:
    std::string name() const override { return "sweep"; }
    std::string summary() const override { return "How fast kernels are over shapes, each validated just before it is timed"; }

    void define(CLI::App& app) override {
        m_app = &app;
        m_kernels.define(app);
        m_baselineOption = app.add_option("--baseline", m_baseline, "What speed-ups are against: native, or a variant")->type_name("VARIANT");
        addChoice(app, "--cache", m_cache, {"cold", "warm", "chain", "both", "all"}, "State of the cache; both is cold and warm");
        m_repeatsOption = app.add_option("--repeats", m_repeats, "Measurements a cell at most (200)")->transform(wholeNumber(1, 1'000'000))->type_name("N");
        m_budgetOption = app.add_option("--budget", m_budget, "Cells that begin after this time are skipped")->transform(decimalNumber(0.0, 1e9))->type_name("SECONDS");
        m_deadlineOption = app.add_option("--deadline", m_deadline, "A cell is hung when a single call of its kernel is silent this long (10)")->transform(decimalNumber(0.001, 1e6))->type_name("SECONDS");
        m_devicesOption = app.add_option("--devices", m_devices, "Spread the shapes over one engine a device, such as cuda:0,cuda:1")->type_name("LIST");
        m_resumeOption = app.add_option("--resume", m_resume, "Continue this run with its own settings; nothing is measured twice. Goes with --devices and with what says where things go")->type_name("RUN");
    }

    int run(const CommonOptions& common) override {
        JobRequest request = jobRequest(common, "sweep");
        JobHooks hooks;
        if (m_resumeOption->count()) {
            if (const auto alone = nothingElse(); !alone) return report(alone.error());
            const auto taken = resumed(common, request);
            if (!taken) return report(taken.error());
            hooks.resumes = *taken;
        } else {
            auto settings = m_kernels.settings();
            if (!settings) return report(settings.error());
            request.settings = std::move(*settings);
            request.settings["cache"] = m_cache;
            if (m_baselineOption->count()) request.settings["baseline"] = m_baseline;
            if (m_repeatsOption->count()) request.settings["repeats"] = m_repeats;
            if (m_budgetOption->count()) request.settings["budget"] = m_budget;
            if (m_deadlineOption->count()) request.settings["deadline"] = m_deadline;
        }
        if (m_devicesOption->count()) {
            if (common.device != "auto") return report(makeError(ErrorCode::usage, "--device and --devices exclude each other", "name every device in --devices"));
            const auto devices = parseDevices(m_devices);
            if (!devices) return report(makeError(ErrorCode::usage, "--devices: " + devices.error().message, devices.error().advice));
            request.device = m_devices;
        }
        hooks.table = [](const JobRun& run) { print(sweepTable(run.rows)); };
        hooks.judge = [](const JobRun& run) { return exitCodeOf(run.rows); };
        if (m_kernels.watch()) return watchKernel(common, request, hooks, m_kernels.kernel());
        return runJob(common, std::move(request), hooks);
    }

private:
    /// A run that is continued has its settings: an option that would contradict them, or be ignored, is refused.
    Result<void> nothingElse() const {
        static const std::vector<std::string> kAllowed{"--resume", "--devices", "--store", "--csv", "--json", "--engine", "--quiet", "--no-progress", "--progress"};
        std::vector<std::string> others;
        for (const CLI::Option* option : m_app->get_options()) {
            const std::string name = "--" + (option->get_lnames().empty() ? std::string() : option->get_lnames().front());
            if (option->count() > 0 && std::find(kAllowed.begin(), kAllowed.end(), name) == kAllowed.end()) others.push_back(name);
        }
        if (others.empty()) return {};
        return makeError(ErrorCode::usage, fmt::format("--resume continues a run with that run's own settings; {} would be ignored", fmt::join(others, ", ")),
                         fmt::format("leave {} out, or start a run of its own; with --resume there can be {}", others.size() == 1 ? "it" : "them", fmt::join(kAllowed.begin() + 1, kAllowed.end(), ", ")));
    }

    /// Fills the request from the run; returns the run's full id.
    Result<std::string> resumed(const CommonOptions& common, JobRequest& request) const {
        const auto store = openStoreToRead(common);
        if (!store) return store.error();
        const auto run = (*store)->run(m_resume);
        if (!run) return run.error();
        const RunHeader& header = run->header;
        if (header.kind != "sweep") return makeError(ErrorCode::badInput, "run " + header.id + " is a " + header.kind + ", not a sweep");
        request.settings = header.settings;
        request.seed = header.seed;
        request.dtype = header.dtype;
        // The header has names for people; what was asked for stands in the command.
        if (const std::string model = optionIn(header.command, "--model"); !model.empty()) request.model = model;
        if (const std::string device = optionIn(header.command, "--device"); !device.empty()) request.device = device;
        if (const std::string devices = optionIn(header.command, "--devices"); !devices.empty()) request.device = devices;
        return header.id;
    }

    const CLI::App* m_app = nullptr;
    KernelOptions m_kernels;
    std::string m_baseline, m_cache = "cold", m_devices, m_resume;
    std::int64_t m_repeats = 200;
    double m_budget = 0, m_deadline = 10;
    CLI::Option *m_baselineOption = nullptr, *m_repeatsOption = nullptr, *m_budgetOption = nullptr, *m_deadlineOption = nullptr, *m_devicesOption = nullptr, *m_resumeOption = nullptr;
};

}  // namespace

std::unique_ptr<Command> makeSweepCommand() { return std::make_unique<SweepCommand>(); }

}  // namespace kernelscope::cli
