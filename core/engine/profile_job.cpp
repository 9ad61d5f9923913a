// The profile job: where the time of a decode step or of a prefill goes.

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include "core/engine/job.h"
#include "core/engine/job_patch.h"
#include "core/engine/model_setup.h"
#include "core/engine/settings.h"
#include "core/measure/cross_check.h"
#include "core/measure/device_rates.h"
#include "core/measure/device_trace.h"
#include "core/measure/gpu_columns.h"
#include "core/measure/graph_profile.h"
#include "core/measure/held_stream.h"
#include "core/measure/span_profile.h"
#include "core/measure/timeline.h"
#include "core/model/pass_work.h"
#include "core/records/format.h"
#include "core/records/headline.h"
#include "core/records/progress_clock.h"
#include "core/records/rows.h"
#include "core/records/verdict.h"

namespace kernelscope {
namespace {

// Rows of a level with hundreds of rows are sent this often while it runs; the last state is always sent.
constexpr std::size_t kRowsSentEveryPass = 64;
// Where the rows come from the captured pass, eager passes only warm up and fill the timeline.
constexpr std::int64_t kPassesForTimeline = 5;
// The driver's trace of a pass moves by 0.1 % in total from one to the next; ten bring it below what is being checked.
constexpr int kTracedPasses = 10;

struct ProfileSettings {
    std::vector<std::string> phases;
    std::int64_t promptTokens = 32, batch = 1, iterations = 50, warmup = 10;
    ProfileLevel level = ProfileLevel::type;
    bool graphMode = false;
    bool crossCheck = false;  ///< against the driver's own trace
};

class ProfileJob final : public Job {
public:
    explicit ProfileJob(const JobRequest& request) : m_request(request) {}

    Result<JobStarted> prepare(ModelHolder& models) override {
        SettingsReader reader(m_request.settings);
        const std::string phase = reader.choice("phase", "decode", {"decode", "prefill", "both"});
        if (phase != "decode") m_settings.phases.emplace_back("prefill");
        if (phase != "prefill") m_settings.phases.emplace_back("decode");
        m_settings.promptTokens = reader.integer("prompt_tokens", 32, 1, 1'000'000);
        m_settings.batch = reader.integer("batch", 1, 1, 4096);
        m_settings.iterations = reader.integer("iterations", 50, 1, 100'000);
        m_settings.warmup = reader.integer("warmup", 10, 0, 100'000);
        m_settings.level = *profileLevelFromString(reader.choice("level", "type", {"type", "block", "leaf", "kernel"}));
        m_settings.graphMode = reader.choice("mode", "eager", {"eager", "graph"}) == "graph";
        std::string patch = reader.text("patch", "");
        const KernelSettings kernelSettings = readKernelSettings(reader);
        m_settings.crossCheck = reader.flag("cross_check", false);
        Result<nlohmann::json> complete = reader.finish();
        if (!complete) return complete.error();

        Result<ModelSetup> setup = prepareModel(m_request);
        if (!setup) return setup.error();
        m_setup = std::move(*setup);
        if (const Result<void> possible = checkMode(); !possible) return possible.error();
        const Result<JobKernel> kernel = JobKernel::load(kernelSettings, m_setup->device);
        if (!kernel) return kernel.error();
        if (patch.empty() && kernel->given()) (*complete)["patch"] = patch = kernel->patch();
        Result<JobPatch> patched = JobPatch::read(patch, *m_setup, *kernel);
        if (!patched) return patched.error();
        m_patch = std::move(*patched);
        if (m_settings.promptTokens + 1 > m_setup->config.contextLength) {
            return makeError(ErrorCode::usage, fmt::format("A prompt of {} tokens and one more exceed the context of {} ({})", m_settings.promptTokens,
                                                           m_setup->config.contextLength, m_setup->config.name), "Use a shorter --prompt-tokens.");
        }
        if (const Result<void> fits = checkMemory(*m_setup, models, {m_settings.batch, m_settings.promptTokens + 1, m_settings.promptTokens, 1}); !fits) return fits.error();
        JobStarted started = describe(*m_setup);
        started.settings = std::move(*complete);
        kernel->describe(started);
        return started;
    }

    Finished run(JobContext& context) override {
        const c10::InferenceMode inference;
        if (const Result<void> active = activate(m_setup->device); !active) return failed(active.error());
        Result<std::shared_ptr<Qwen2Model>> loaded = context.models.get(*m_setup, context);
        if (!loaded) return failed(loaded.error());
        Qwen2Model& model = **loaded;
        if (const Result<void> right = m_patch->prove(*m_setup, {m_settings.batch, m_settings.batch * m_settings.promptTokens}, context); !right) return failed(right.error());
        model.setPatchTable(m_patch->table());
        model.setStop(context.stop);

        std::vector<ProfileRow> all;
        Finished finished;
        for (const std::string& phase : m_settings.phases) {
            Result<std::vector<ProfileRow>> rows = profilePhase(phase, model, context, finished.result);
            if (!rows) return failed(rows.error());
            all.insert(all.end(), rows->begin(), rows->end());
            if (context.stop.stop_requested()) return cancelled();
        }
        finished.headline = profileHeadline(all, finished.result);
        m_patch->describe(finished.result);
        return finished;
    }

private:
    Result<void> checkMode() const {
        if (m_setup->device.isCuda()) return {};
        if (m_settings.graphMode) {
            return makeError(ErrorCode::environment, "Graph mode needs a CUDA device; this job runs on " + m_setup->device.info.name, "Use --mode eager.");
        }
        if (m_settings.level == ProfileLevel::kernel) {
            return makeError(ErrorCode::environment, "Level kernel needs a CUDA device; this job runs on " + m_setup->device.info.name, "Use --level leaf.");
        }
        if (m_settings.crossCheck) {
            return makeError(ErrorCode::environment, "A cross-check needs a CUDA device: there is no driver's trace of " + m_setup->device.info.name, "Leave --cross-check out.");
        }
        return {};
    }

    /// One forward pass at a fixed position, the next token's argmax included (a part of every token's time).
    Pass makePass(const std::string& phase, Qwen2Model& model, KvCache& cache, const at::Tensor& prompt) const {
        if (phase == "prefill") {
            return [&model, &cache, prompt] {
                cache.setLength(0);
                (void)model.forward(prompt, cache).argmax(-1);
            };
        }
        cache.setLength(0);
        const at::Tensor token = model.forward(prompt, cache).argmax(-1);
        const std::int64_t position = cache.length();
        return [&model, &cache, token, position] {
            cache.setLength(position);
            (void)model.forward(token, cache).argmax(-1);
        };
    }

    Result<std::vector<ProfileRow>> profilePhase(const std::string& phase, Qwen2Model& model, JobContext& context, nlohmann::json& result) {
        KvCache cache = model.makeCache(m_settings.batch, m_settings.promptTokens + 1);
        const at::Tensor prompt = measurementPrompt(model, m_settings.batch, m_settings.promptTokens, m_setup->seed);
        const Pass pass = makePass(phase, model, cache, prompt);

        Result<SpanProfile> spans = measureEager(phase, pass, model, context);
        if (!spans) return spans.error();
        result["first_pass_us"][phase] = spans->firstPassUs;
        if (!m_rates) m_rates = measureRates(m_setup->device, m_setup->dtype);  // behind the first pass, whose one-time costs are its own
        keepWork(result, phase, workOf(phase));
        std::vector<ProfileRow> rows = spans->table.rows(true);
        for (ProfileRow& row : rows) {
            if (row.name == "total") row.note = "first pass " + formatMicroseconds(spans->firstPassUs);
        }
        send(phase, rows, context);
        if (context.stop.stop_requested()) return makeError(ErrorCode::cancelled, "Cancelled");

        std::optional<GraphProfile> graph;
        if (m_setup->device.isCuda()) {
            Result<GraphProfile> measured = measureCaptured(phase, pass, model, context);
            if (!measured && (measured.error().code == ErrorCode::cancelled || needsGraph())) return measured.error();
            if (!measured) measured = measureHeld(phase, pass, measured.error(), model, context);
            if (measured) graph = std::move(*measured);
            else if (measured.error().code == ErrorCode::cancelled) return measured.error();
            else noteOnTotal(rows, "no gpu time: " + measured.error().message);
        }
        if (graph) {
            if (m_settings.graphMode) rows = graphModeRows(phase, *graph, model.modules(), m_settings.level);
            else if (m_settings.level == ProfileLevel::kernel) rows = kernelRows(phase, *graph, model.modules());
            else addGpuColumns(rows, *graph, model.modules(), m_settings.level);
            result["gpu_time"][phase] = {{"method", graph->method}, {"conservation_pct", graph->conservationPct}, {"mark_cost_us", graph->markCostUs},
                                         {"kernel_gap_us", graph->kernelGapUs}, {"nodes", graph->nodes.size()}, {"warnings", graph->warnings}};
        }
        if (m_settings.crossCheck) {
            const Result<void> checked = graph ? sendCrossCheck(phase, pass, *graph, model, context, result)
                                               : noCrossCheck({ErrorCode::environment, "there is no GPU time to check", ""}, result["cross_check"][phase]);
            if (!checked) return checked.error();
        }
        send(phase, rows, context);
        sendEvidence(phase, *spans, graph ? &*graph : nullptr, model, context);
        return rows;
    }

    [[nodiscard]] PassWork workOf(const std::string& phase) const {
        const bool prefill = phase == "prefill";
        const PassShape shape{.batch = m_settings.batch, .tokens = prefill ? m_settings.promptTokens : 1, .past = prefill ? 0 : m_settings.promptTokens,
                              .elementBytes = static_cast<std::int64_t>(c10::elementSize(m_setup->dtype)), .lastOnly = true};
        PassWork work{m_rates->copyBytesPerSecond, m_rates->matmulFlopsPerSecond, {}};
        for (const TypeWork& type : passWork(m_setup->config, shape)) work.types.push_back({std::string(toString(type.type)), type.bytes, type.flops});
        return work;
    }

    [[nodiscard]] bool needsGraph() const { return m_settings.graphMode || m_settings.level == ProfileLevel::kernel; }

    Result<SpanProfile> measureEager(const std::string& phase, const Pass& pass, Qwen2Model& model, JobContext& context) const {
        SpanProfileOptions options{m_settings.level, m_settings.iterations, m_settings.warmup};
        if (needsGraph()) options.iterations = std::min(options.iterations, kPassesForTimeline);
        ProgressClock clock, rowClock;
        const std::string words = phase == "prefill" ? "Prefill passes" : "Decode passes";
        SpanProfileEvents events;
        events.passDone = [&](std::int64_t done, std::int64_t total) {
            if (clock.due(done == total)) context.progress({words, done, total, clock.secondsLeft(done, total), {}});
        };
        events.tableGrew = [&](const SpanTable& table) {
            if (needsGraph()) return;
            const std::vector<ProfileRow> rows = table.rows(false);
            if (rows.size() <= kRowsSentEveryPass || rowClock.due()) send(phase, rows, context);
        };
        return measureSpans(phase, pass, model.modules(), model.hooks(), m_setup->device, options, events, context.stop);
    }

    Result<GraphProfile> measureCaptured(const std::string& phase, const Pass& pass, Qwen2Model& model, JobContext& context) const {
        ProgressClock clock;
        const std::string words = phase == "prefill" ? "GPU time of the prefill" : "GPU time of the decode step";
        const auto progress = [&](std::int64_t done, std::int64_t total) {
            if (clock.due(done == total)) context.progress({words, done, total, clock.secondsLeft(done, total), {}});
        };
        return measureGraph(pass, model.modules(), model.hooks(), m_setup->device, {}, progress, context.stop);
    }

    /// Where the pass is no chain of a graph, for the reason given.
    Result<GraphProfile> measureHeld(const std::string& phase, const Pass& pass, const Error& noGraph, Qwen2Model& model, JobContext& context) const {
        ProgressClock clock;
        const std::string words = phase == "prefill" ? "GPU time of the prefill, by a held stream" : "GPU time of the decode step, by a held stream";
        const auto progress = [&](std::int64_t done, std::int64_t total) {
            if (clock.due(done == total)) context.progress({words, done, total, clock.secondsLeft(done, total), {}});
        };
        Result<GraphProfile> held = measureHeldStream(pass, model.modules(), model.hooks(), {}, progress, context.stop);
        if (held) {
            held->warnings.push_back(noGraph.message);
            return held;
        }
        if (held.error().code == ErrorCode::cancelled) return held;
        return makeError(held.error().code, noGraph.message + "; " + held.error().message);
    }

    /// A trace that is not available costs the cross-check alone: the profile stands, and the reason is kept.
    Result<void> sendCrossCheck(const std::string& phase, const Pass& pass, const GraphProfile& graph, Qwen2Model& model, JobContext& context,
                                nlohmann::json& result) const {
        context.progress({"Cross-check against the driver's trace", 0, 0, std::nullopt, {}});
        nlohmann::json& found = result["cross_check"][phase];
        // A prefill's activations stay in the cache when its kernels follow one another, and do not in an eager pass: the same graph is traced.
        const bool sameGraph = phase == "prefill";
        const Pass& traced = sameGraph ? graph.replayGraph : graph.runEagerly;
        const auto trace = traceDevice(traced ? traced : pass, kTracedPasses, m_setup->device, context.stop);
        if (!trace && trace.error().code == ErrorCode::cancelled) return trace.error();
        const Result<CrossCheck> check = trace ? crossCheck(phase, graph, *trace, model.modules()) : trace.error();
        if (!check) return noCrossCheck(check.error(), found);
        found["trace_of"] = sameGraph ? "the same graph" : "eager passes";
        for (const CrossCheckRow& row : check->rows) {
            context.row(fmt::format("{}/{}", phase, row.name), row);
            found["rows"].push_back(toJson(rowTypeOf<CrossCheckRow>(), valuesOf(row)));
        }
        for (const CrossCheckKernel& kernel : check->kernels) {
            found["kernels"].push_back({{"type", kernel.type}, {"name", kernel.name}, {"kernels", kernel.count}, {"trace_us", kernel.traceUs},
                                        {"kernel_us", kernel.kernelUs}, {"gpu_us", kernel.backToBackUs}});
        }
        const CrossCheckRow& total = check->rows.back();
        found["summary"] = fmt::format("total {:+.2f} % of the driver's trace of {} over {} kernels, {} names differ", total.errorPct.value_or(0),
                                       sameGraph ? "the same graph" : "eager passes", total.kernels, total.namesDiffer);
        return {};
    }

    static Result<void> noCrossCheck(const Error& why, nlohmann::json& found) {
        found["summary"] = found["unavailable"] = why.message;
        found["advice"] = why.advice;
        return {};
    }

    static void noteOnTotal(std::vector<ProfileRow>& rows, const std::string& text) {
        for (ProfileRow& row : rows) {
            if (row.name == "total") row.note += (row.note.empty() ? "" : "; ") + text;
        }
    }

    void send(const std::string& phase, const std::vector<ProfileRow>& rows, JobContext& context) const {
        std::size_t number = 0;
        for (const ProfileRow& row : rows) {
            // Kernels of one name are rows of their own: their place in the pass tells them apart.
            const std::string name = m_settings.level == ProfileLevel::kernel ? std::to_string(number++) : row.name;
            if (m_settings.level == ProfileLevel::kernel && needsGraph() && !row.gpuUs && row.name != "profiler tax") return;
            context.row(fmt::format("{}/{}/{}", phase, toString(m_settings.level), name), row);
        }
    }

    void sendEvidence(const std::string& phase, const SpanProfile& spans, const GraphProfile* graph, const Qwen2Model& model, JobContext& context) const {
        std::vector<SampleRow> samples = spans.table.samples();
        std::vector<ProfileModuleRow> modules = moduleRows(phase, spans.table, graph, model.modules());
        std::vector<ProfileEventRow> events = eventRows(phase, spans.lastPass, graph, model.modules());
        if (graph && m_settings.graphMode) {
            samples = graphModeSamples(phase, *graph, model.modules(), m_settings.level);
            keepGraphAlone(modules, events);
        }
        const auto sendAll = [&](const auto& rows) {
            std::int64_t number = 0;
            for (const auto& row : rows) context.row(fmt::format("{}/{}", phase, number++), row);
        };
        sendAll(samples);
        sendAll(modules);
        sendAll(events);
    }

    JobRequest m_request;
    ProfileSettings m_settings;
    std::optional<ModelSetup> m_setup;
    std::optional<JobPatch> m_patch;
    std::optional<DeviceRates> m_rates;
};

}  // namespace

std::unique_ptr<Job> makeProfileJob(const JobRequest& request) { return std::make_unique<ProfileJob>(request); }

}  // namespace kernelscope
