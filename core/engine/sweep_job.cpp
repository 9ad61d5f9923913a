// The sweep job: how fast every variant is over shapes, against a baseline in the same rounds. A cell is validated just before it
// is timed, and what has not passed gets no time.

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include "core/device/telemetry.h"
#include "core/engine/job.h"
#include "core/engine/job_kernel.h"
#include "core/engine/kernel_selection.h"
#include "core/engine/model_setup.h"
#include "core/engine/settings.h"
#include "core/engine/sweep_records.h"
#include "core/engine/sweep_tally.h"
#include "core/measure/device_rates.h"
#include "core/measure/memory_need.h"
#include "core/measure/sweep.h"
#include "core/measure/timing.h"
#include "core/measure/validation.h"
#include "core/ops/test_variants.h"
#include "core/records/progress_clock.h"
#include "core/records/row_key.h"
#include "core/records/rows.h"

namespace kernelscope {
namespace {

const std::vector<std::int64_t> kDefaultRows{1, 8, 64, 512, 2048};
constexpr std::int64_t kCallSamples = 200;
// Reading the GPU's state takes most of a millisecond: a few times a cell is enough.
constexpr std::int64_t kRoundsBetweenTelemetry = 10;

std::vector<CacheMode> modesOf(const std::string& text) {
    if (text == "both") return {CacheMode::cold, CacheMode::warm};
    if (text == "all") return {CacheMode::cold, CacheMode::warm, CacheMode::chain};
    return {*cacheModeFromString(text)};
}

/// One operator at one shape and type: its variants share inputs, rounds and baseline.
struct Group {
    const Operator* op = nullptr;
    std::vector<const Variant*> variants;  ///< the baseline first
    at::ScalarType dtype = at::kFloat;
    std::int64_t hidden = 0, rows = 0;
};

class SweepJob final : public Job {
public:
    explicit SweepJob(const JobRequest& request)
        : m_request(request), m_skip(request.skip.begin(), request.skip.end()), m_giveUp(request.giveUp.begin(), request.giveUp.end()),
          m_operators(builtinOperators()) {
        addTestVariants(m_operators);
    }

    Result<JobStarted> prepare(ModelHolder&) override {
        SettingsReader reader(m_request.settings);
        SelectionSettings selection = readSelection(reader, "");
        m_baseline = reader.text("baseline", "native");
        m_modes = modesOf(reader.choice("cache", "cold", {"cold", "warm", "chain", "both", "all"}));
        m_repeats = reader.integer("repeats", 200, 1, 1'000'000);
        constexpr double kNoBudget = -1;
        const double budget = reader.number("budget", kNoBudget, kNoBudget, 1e9);
        if (budget >= 0) m_budgetSeconds = budget;
        reader.number("deadline", 10, 0.001, 1e6);  // the client's
        const KernelSettings kernelSettings = readKernelSettings(reader);
        // One of several engines that share the shapes of a run takes every parts-th of them.
        constexpr std::int64_t kMostParts = 1024;
        const std::int64_t parts = reader.integer("parts", 1, 1, kMostParts), part = reader.integer("part", 0, 0, parts - 1);
        Result<nlohmann::json> complete = reader.finish();
        if (!complete) return complete.error();
        Result<ModelSetup> setup = prepareModelFor(m_request, selection);
        if (!setup) return setup.error();
        m_setup = std::move(*setup);
        const Result<JobKernel> kernel = JobKernel::load(kernelSettings, m_setup->device);
        if (!kernel) return kernel.error();
        kernel->addTo(m_operators);
        // Its operators alone, beside native and ours, unless more is asked for by name.
        if (kernel->given() && !wasGiven(m_request, "op")) (*complete)["op"] = selection.ops = kernel->operators();

        if (selection.hidden.empty()) selection.hidden.push_back(m_setup->config.hiddenSize);
        if (selection.rows.empty()) selection.rows = kDefaultRows;
        if (selection.dtypes.empty()) selection.dtypes = dtypeName(m_setup->dtype);
        if (const Result<void> sane = checkSizes(selection.hidden, selection.rows); !sane) return sane.error();
        const Result<std::vector<at::ScalarType>> dtypes = parseDtypes(selection.dtypes);
        if (!dtypes) return dtypes.error();
        const Result<std::vector<SelectedOperator>> selected = selectVariants(selection, m_operators, m_setup->device.torch);
        if (!selected) return selected.error();
        if (const Result<void> made = makeGroups(*selected, *dtypes, selection); !made) return made.error();
        std::vector<Group> ours;
        for (std::size_t i = static_cast<std::size_t>(part); i < m_groups.size(); i += static_cast<std::size_t>(parts)) ours.push_back(m_groups[i]);
        m_groups = std::move(ours);

        JobStarted started = describe(*m_setup);
        started.settings = std::move(*complete);
        for (const char* key : {"part", "parts"}) started.settings.erase(key);  // the run has all parts
        started.settings["hidden"] = selection.hidden;
        started.settings["rows"] = selection.rows;
        started.settings["dtypes"] = selection.dtypes;
        started.dtype = selection.dtypes;
        kernel->describe(started);
        return started;
    }

    Finished run(JobContext& context) override {
        const c10::InferenceMode inference;
        if (const Result<void> active = activate(m_setup->device); !active) return failed(active.error());
        m_start = std::chrono::steady_clock::now();
        m_total = 0;
        for (const Group& group : m_groups) m_total += static_cast<std::int64_t>(group.variants.size() * m_modes.size());
        for (const Group& group : m_groups) {
            if (context.stop.stop_requested()) return cancelled();
            if (const Result<void> done = sweepGroup(group, context); !done) return failed(done.error());
            m_done += static_cast<std::int64_t>(group.variants.size() * m_modes.size());
        }
        return finished();
    }

private:
    using Clock = std::chrono::steady_clock;

    Result<void> makeGroups(const std::vector<SelectedOperator>& selected, const std::vector<at::ScalarType>& dtypes, const SelectionSettings& selection) {
        for (const SelectedOperator& each : selected) {
            const Variant* baseline = each.op->find(m_baseline);
            if (!baseline || !baseline->supports(m_setup->device.torch)) {
                const bool byName = splitNames(selection.ops) != std::vector<std::string>{"all"};
                if (!byName && baseline == nullptr && m_baseline != "native" && selected.size() > 1) continue;  // of other operators alone
                return makeError(ErrorCode::usage, fmt::format("{} has no variant called '{}' on this device to be the baseline", each.op->name(), m_baseline));
            }
            Group group;
            group.op = each.op;
            group.variants.push_back(baseline);
            for (const Variant* variant : each.variants) {
                if (variant != baseline) group.variants.push_back(variant);
            }
            for (const at::ScalarType dtype : dtypes) {
                for (const std::int64_t hidden : std::set<std::int64_t>(selection.hidden.begin(), selection.hidden.end())) {
                    for (const std::int64_t rows : std::set<std::int64_t>(selection.rows.begin(), selection.rows.end())) {
                        group.dtype = dtype;
                        group.hidden = hidden;
                        group.rows = rows;
                        m_groups.push_back(group);
                    }
                }
            }
        }
        if (m_groups.empty()) return makeError(ErrorCode::usage, fmt::format("No operator asked for has a variant called '{}'", m_baseline));
        return {};
    }

    SweepRow rowFor(const Group& group, const Variant& variant, CacheMode mode) const {
        SweepRow row;
        row.op = group.op->name();
        row.variant = variant.name;
        row.dtype = dtypeName(group.dtype);
        row.hidden = group.hidden;
        row.rows = group.rows;
        row.cache = toString(mode);
        row.device = m_setup->device.info.id;
        return row;
    }

    /// Has every row of this variant in this group been written in an earlier part of the run?
    bool isDone(const Group& group, const Variant& variant) const {
        return std::all_of(m_modes.begin(), m_modes.end(), [&](CacheMode mode) { return m_skip.contains(rowKey(rowFor(group, variant, mode))); });
    }

    void withoutTimes(const Group& group, const Variant& variant, const std::string& status, const std::string& reason, JobContext& context) {
        for (const CacheMode mode : m_modes) {
            SweepRow row = rowFor(group, variant, mode);
            const std::string key = rowKey(row);
            if (m_skip.contains(key)) continue;
            row.status = status;
            row.reason = reason;
            m_tally.count(row, m_baseline);
            context.row(key, row);
        }
    }

    void announce(const Group& group, const Variant& variant, CacheMode mode, const char* doing, JobContext& context) {
        context.progress({fmt::format("{} {} {} x {}", doing, group.op->name(), group.rows, group.hidden), m_done, m_total, m_clock.secondsLeft(m_done, m_total),
                          rowKey(rowFor(group, variant, mode))});
    }

    [[nodiscard]] bool outOfTime() const {
        return m_budgetSeconds && std::chrono::duration<double>(Clock::now() - m_start).count() > *m_budgetSeconds;
    }

    Result<void> sweepGroup(const Group& group, JobContext& context) {
        const bool allDone = std::all_of(group.variants.begin(), group.variants.end(), [&](const Variant* each) { return isDone(group, *each); });
        if (allDone) return {};
        if (outOfTime()) {
            for (const Variant* variant : group.variants) withoutTimes(group, *variant, "skipped", fmt::format("past the budget of {:g} s", *m_budgetSeconds), context);
            return {};
        }
        std::map<const Variant*, CaseOutcome> passed;
        if (const Result<void> done = validateGroup(group, passed, context); !done) return done;
        if (passed.empty() || context.stop.stop_requested()) return {};
        try {
            return timeGroup(group, passed, context);
        } catch (const c10::OutOfMemoryError&) {
            return noMemory(group, passed, context);
        } catch (const std::bad_alloc&) {
            return noMemory(group, passed, context);
        } catch (const c10::Error& error) {
            leaveIfFaulted(m_setup->device, m_cell, error.what_without_backtrace());
            throw;
        }
    }

    Result<void> noMemory(const Group& group, const std::map<const Variant*, CaseOutcome>& passed, JobContext& context) {
        for (const auto& [variant, outcome] : passed) withoutTimes(group, *variant, "skipped", "its buffers do not fit this device's memory", context);
        return {};
    }

    /// The variants that may be timed, with what validation said. The others get their rows here.
    Result<void> validateGroup(const Group& group, std::map<const Variant*, CaseOutcome>& passed, JobContext& context) {
        Validator validator(*group.op, shapeFor(group.hidden, group.rows), group.dtype, m_setup->device, static_cast<std::uint64_t>(m_request.seed), [&] { if (m_beat.due() && m_again) m_again(); });
        for (const Variant* variant : group.variants) {
            if (context.stop.stop_requested()) return {};
            const bool baseline = variant == group.variants.front();
            if (!baseline && isDone(group, *variant)) continue;
            m_again = [&, variant] { announce(group, *variant, firstOpen(group, *variant), "Validating", context); };
            m_again();
            const std::string key = rowKey(rowFor(group, *variant, m_modes.front()));
            if (m_giveUp.contains(keyPrefix(key, 2))) {
                withoutTimes(group, *variant, "skipped", "this variant crashed or hung three times in a row", context);
                continue;
            }
            Result<CaseOutcome> outcome = validated(validator, *variant, key);
            if (!outcome) return outcome.error();
            sendErrorMap({group.op->name(), variant->name, dtypeName(group.dtype), group.hidden, group.rows, "basic"}, *outcome, context);
            if (outcome->mayBeTimed()) passed.emplace(variant, std::move(*outcome));
            else withoutTimes(group, *variant, outcome->status, outcome->reason, context);
        }
        return {};
    }

    CacheMode firstOpen(const Group& group, const Variant& variant) const {
        for (const CacheMode mode : m_modes) {
            if (!m_skip.contains(rowKey(rowFor(group, variant, mode)))) return mode;
        }
        return m_modes.front();
    }

    Result<CaseOutcome> validated(Validator& validator, const Variant& variant, const std::string& key) const {
        try {
            Result<CaseOutcome> outcome = validator.run(variant, "basic");
            if (!outcome) leaveIfFaulted(m_setup->device, key, outcome.error().message);
            return outcome;
        } catch (const c10::Error& error) {
            leaveIfFaulted(m_setup->device, key, error.what_without_backtrace());
            throw;
        }
    }

    Result<void> timeGroup(const Group& group, const std::map<const Variant*, CaseOutcome>& passed, JobContext& context) {
        if (!m_meter) {
            m_meter = makeMeter(m_setup->device);
            m_meter->setSign([this] { if (m_beat.due() && m_again) m_again(); });
            m_limits = m_meter->limits();
        }
        if (!m_matmul.contains(group.dtype)) m_matmul[group.dtype] = matmulFlopsPerSecond(m_setup->device, group.dtype);
        sendRoofline({group.op->name(), dtypeName(group.dtype), group.hidden, group.rows}, group.op->work(shapeFor(group.hidden, group.rows), group.dtype), m_limits,
                     m_matmul[group.dtype], context);
        const OperatorShape shape = shapeFor(group.hidden, group.rows);
        if (const auto why = misfit(bytesToTime(*group.op, shape, group.dtype, static_cast<std::int64_t>(passed.size())), m_setup->device)) {
            for (const auto& [variant, outcome] : passed) withoutTimes(group, *variant, "skipped", *why, context);
            return {};
        }
        Operands example = group.op->example(shape, group.dtype, static_cast<std::uint64_t>(m_request.seed) + 1, Content::ordinary);
        for (at::Tensor& input : example.inputs) input = input.to(m_setup->device.torch);

        std::vector<const Variant*> timed;
        for (const Variant* variant : group.variants) {
            if (passed.contains(variant)) timed.push_back(variant);
        }
        for (const CacheMode mode : m_modes) {
            if (context.stop.stop_requested()) return {};
            if (const Result<void> done = timeMode(group, mode, timed, passed, example, context); !done) return done;
        }
        return {};
    }

    void say(const Group& group, const Variant& variant, CacheMode mode, const char* doing, JobContext& context) {
        m_cell = rowKey(rowFor(group, variant, mode));
        m_again = [this, &group, &variant, mode, doing, &context] { announce(group, variant, mode, doing, context); };
        m_again();
    }

    Result<void> timeMode(const Group& group, CacheMode mode, const std::vector<const Variant*>& timed, const std::map<const Variant*, CaseOutcome>& passed,
                          const Operands& example, JobContext& context) {
        std::vector<std::unique_ptr<PreparedCalls>> prepared;
        std::vector<Contender> contenders;
        for (const Variant* variant : timed) {
            say(group, *variant, mode, "Timing", context);
            Result<std::unique_ptr<PreparedCalls>> calls = m_meter->prepare(*group.op, *variant, example, mode);
            if (!calls) {
                SweepRow row = rowFor(group, *variant, mode);
                row.status = "refused";
                row.reason = calls.error().message;
                send(row, context);
                continue;
            }
            prepared.push_back(std::move(*calls));
            contenders.push_back({variant, prepared.back().get(), {}});
        }
        if (contenders.empty()) return {};
        const auto callUs = measureCalls(*m_meter, *group.op, contenders, example, mode, kCallSamples,
                                         [&](const Variant& variant) { say(group, variant, mode, "Timing", context); });

        std::vector<Telemetry> states;
        RoundOptions options;
        options.leastRounds = std::min<std::int64_t>(options.leastRounds, m_repeats);
        options.mostRounds = m_repeats;
        options.stop = context.stop;
        options.outOfTime = [this] { return outOfTime(); };
        options.afterRound = [&](std::int64_t round) {
            if (m_setup->device.isCuda() && round % kRoundsBetweenTelemetry == 0) states.push_back(sampleTelemetry(m_setup->device));
        };
        measureRounds(*m_meter, contenders, options);
        if (context.stop.stop_requested()) return {};  // too few rounds to stand for the cell
        sendRows(group, mode, contenders, passed, callUs, states, context);
        return {};
    }

    void sendRows(const Group& group, CacheMode mode, const std::vector<Contender>& contenders, const std::map<const Variant*, CaseOutcome>& passed,
                  const std::vector<std::vector<double>>& callUs, const std::vector<Telemetry>& states, JobContext& context) {
        const auto throttled = std::count_if(states.begin(), states.end(), [](const Telemetry& state) { return !state.throttle.empty(); });
        const Work work = group.op->work(shapeFor(group.hidden, group.rows), group.dtype);
        std::vector<SweepRow> rows;
        for (std::size_t i = 0; i < contenders.size(); ++i) {
            const Contender& contender = contenders[i];
            SweepRow row = rowFor(group, *contender.variant, mode);
            const CaseOutcome& outcome = passed.at(contender.variant);
            row.status = outcome.status;
            if (outcome.status == "other_order") row.reason = outcome.reason;
            describeTimes({contender.samplesUs, median(callUs[i]), work, m_limits, contender.variant->programmatic, mode, !m_setup->device.isCuda(),
                           !states.empty() && 2 * throttled >= static_cast<std::ptrdiff_t>(states.size())},
                          row);
            rows.push_back(std::move(row));
        }
        const bool hasBaseline = contenders.front().variant == group.variants.front();
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (hasBaseline) compareWithBaseline(contenders.front().samplesUs, rows.front(), contenders[i].samplesUs, rows[i]);
            else compareWithBaseline({}, SweepRow{}, contenders[i].samplesUs, rows[i]);
        }
        // Together, after all figures are there: a baseline's row is never without the rows that refer to it.
        for (const SweepRow& row : rows) send(row, context);
        for (std::size_t i = 0; i < rows.size(); ++i) sendSamples(rowKey(rows[i]), {contenders[i].samplesUs, callUs[i], states, kRoundsBetweenTelemetry}, context);
    }

    void send(const SweepRow& row, JobContext& context) {
        m_tally.count(row, m_baseline);
        context.row(rowKey(row), row);
    }

    Finished finished() const {
        Finished finished;
        finished.result = m_tally.toJson();
        for (const auto& [dtype, rate] : m_matmul) finished.result["matmul_gflop_per_s"][dtypeName(dtype)] = rate / 1e9;
        if (m_meter) {
            finished.result["limits"] = {{"copy_gb_per_s", m_limits.copyBytesPerSecond / 1e9}, {"launch_floor_us", m_limits.launchFloorUs},
                                         {"programmatic_floor_us", m_limits.programmaticFloorUs}};
        }
        return finished;
    }

    JobRequest m_request;
    std::set<std::string> m_skip, m_giveUp;
    OperatorTable m_operators;
    std::optional<ModelSetup> m_setup;
    std::string m_baseline;
    std::vector<CacheMode> m_modes;
    std::int64_t m_repeats = 200;
    std::optional<double> m_budgetSeconds;
    std::vector<Group> m_groups;
    Clock::time_point m_start;
    std::int64_t m_done = 0, m_total = 0;
    ProgressClock m_clock, m_beat;
    std::string m_cell;
    std::function<void()> m_again;  ///< says again which cell is being worked on
    std::unique_ptr<Meter> m_meter;
    DeviceLimits m_limits;
    std::map<at::ScalarType, double> m_matmul;  ///< operations a second
    SweepTally m_tally;
};

}  // namespace

std::unique_ptr<Job> makeSweepJob(const JobRequest& request) { return std::make_unique<SweepJob>(request); }

}  // namespace kernelscope
