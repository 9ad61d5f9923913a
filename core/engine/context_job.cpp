// The context job: a decode step at several lengths of its context and several batches, in one go.

#include <algorithm>
#include <set>

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include "core/device/peak_memory.h"
#include "core/engine/job.h"
#include "core/engine/job_patch.h"
#include "core/engine/model_setup.h"
#include "core/engine/settings.h"
#include "core/measure/gpu_columns.h"
#include "core/measure/graph_profile.h"
#include "core/measure/span_profile.h"
#include "core/records/context_rows.h"
#include "core/records/format.h"
#include "core/records/progress_clock.h"
#include "core/records/row_key.h"
#include "core/records/statistics.h"

namespace kernelscope {
namespace {

const std::vector<std::int64_t> kDefaultContext{32, 128, 512, 2048}, kDefaultBatch{1, 4};

struct Point {
    std::int64_t batch, context;
};

class ContextJob final : public Job {
public:
    explicit ContextJob(const JobRequest& request) : m_request(request) {}

    Result<JobStarted> prepare(ModelHolder& models) override {
        SettingsReader reader(m_request.settings);
        std::vector<std::int64_t> contexts = reader.integers("context"), batches = reader.integers("batch");
        m_iterations = reader.integer("iterations", 20, 2, 100'000);
        m_warmup = reader.integer("warmup", 3, 0, 100'000);
        std::string patch = reader.text("patch", "");
        const KernelSettings kernelSettings = readKernelSettings(reader);
        Result<nlohmann::json> complete = reader.finish();
        if (!complete) return complete.error();
        Result<ModelSetup> setup = prepareModel(m_request);
        if (!setup) return setup.error();
        m_setup = std::move(*setup);
        if (contexts.empty()) contexts = kDefaultContext;
        if (batches.empty()) batches = kDefaultBatch;
        if (const Result<void> sane = makePoints(contexts, batches); !sane) return sane.error();
        const Result<JobKernel> kernel = JobKernel::load(kernelSettings, m_setup->device);
        if (!kernel) return kernel.error();
        if (patch.empty() && kernel->given()) (*complete)["patch"] = patch = kernel->patch();
        Result<JobPatch> patched = JobPatch::read(patch, *m_setup, *kernel);
        if (!patched) return patched.error();
        m_patch = std::move(*patched);
        if (const Result<void> fits = checkMemory(*m_setup, models, {}); !fits) return fits.error();
        JobStarted started = describe(*m_setup);
        started.settings = std::move(*complete);
        started.settings["context"] = contexts;
        started.settings["batch"] = batches;
        kernel->describe(started);
        return started;
    }

    Finished run(JobContext& context) override {
        const c10::InferenceMode inference;
        if (const Result<void> active = activate(m_setup->device); !active) return failed(active.error());
        Result<std::shared_ptr<Qwen2Model>> loaded = context.models.get(*m_setup, context);
        if (!loaded) return failed(loaded.error());
        Qwen2Model& model = **loaded;
        std::set<std::int64_t> batches;
        for (const Point& point : m_points) batches.insert(point.batch);
        if (const Result<void> right = m_patch->prove(*m_setup, {batches.begin(), batches.end()}, context); !right) return failed(right.error());
        model.setPatchTable(m_patch->table());
        model.setStop(context.stop);
        for (const Point& point : m_points) {
            if (context.stop.stop_requested()) return cancelled();
            if (const Result<void> done = measure(point, model, context); !done) return failed(done.error());
            ++m_done;
        }
        return finished();
    }

private:
    Result<void> makePoints(const std::vector<std::int64_t>& contexts, const std::vector<std::int64_t>& batches) {
        const std::set<std::int64_t> lengths(contexts.begin(), contexts.end()), sizes(batches.begin(), batches.end());
        for (const std::int64_t batch : sizes) {
            if (batch < 1 || batch > 4096) return makeError(ErrorCode::usage, fmt::format("A batch of {} is not from 1 to 4096", batch));
            for (const std::int64_t length : lengths) {
                if (length < 1) return makeError(ErrorCode::usage, "A context of 0 tokens has nothing to attend to", "Begin at 1.");
                m_points.push_back({batch, length});
            }
        }
        if (*lengths.begin() >= m_setup->config.contextLength) {
            return makeError(ErrorCode::usage, fmt::format("A context of {} tokens and one more exceed the context of {} ({})", *lengths.begin(), m_setup->config.contextLength,
                                                           m_setup->config.name), "Use a shorter --context.");
        }
        return {};
    }

    /// Why this point is not measured, if it is not.
    std::optional<std::string> obstacle(const Point& point, ModelHolder& models) const {
        if (point.context + 1 > m_setup->config.contextLength) return fmt::format("beyond the context of {}", m_setup->config.contextLength);
        if (const Result<void> fits = checkMemory(*m_setup, models, {.batch = point.batch, .cacheTokens = point.context + 1}); !fits) return fits.error().message;
        return std::nullopt;
    }

    Result<void> measure(const Point& point, Qwen2Model& model, JobContext& context) {
        ContextRow row;
        row.batch = point.batch;
        row.contextTokens = point.context;
        row.status = "skipped";
        say(point, context);
        if (const auto why = obstacle(point, context.models)) {
            row.reason = *why;
        } else {
            try {
                if (const Result<void> done = measureStep(point, model, row, context); !done) return done;
            } catch (const c10::OutOfMemoryError&) {
                row.reason = "does not fit this device's memory";
            } catch (const std::bad_alloc&) {
                row.reason = "does not fit this machine's memory";
            }
        }
        if (row.decodeMsPerToken) m_measured.push_back(row);
        context.row(rowKey(row), row);
        return {};
    }

    Result<void> measureStep(const Point& point, Qwen2Model& model, ContextRow& row, JobContext& context) {
        KvCache cache = model.makeCache(point.batch, point.context + 1);
        // A step costs what it costs whatever the cache holds: numbers in place of a prefill that takes a thousand times as long.
        for (std::int64_t layer = 0; layer < m_setup->config.layers; ++layer) cache.both(layer).normal_(0, 0.5);
        const at::Tensor token = measurementPrompt(model, point.batch, 1, m_setup->seed);
        const Pass pass = [&] {
            cache.setLength(point.context);
            (void)model.forward(token, cache).argmax(-1);
        };
        resetPeakMemory(m_setup->device);
        SpanProfileOptions options{ProfileLevel::type, m_iterations, m_warmup};
        SpanProfileEvents events;
        events.passDone = [&](std::int64_t, std::int64_t) { if (m_beat.due()) say(point, context); };
        Result<SpanProfile> spans = measureSpans("decode", pass, model.modules(), model.hooks(), m_setup->device, options, events, context.stop);
        if (!spans) return spans.error();
        if (context.stop.stop_requested()) return makeError(ErrorCode::cancelled, "Cancelled");
        row.peakMemoryBytes = peakMemoryBytes(m_setup->device);
        row.cacheBytes = KvCache::bytes(m_setup->config, point.batch, point.context + 1, m_setup->dtype);
        std::vector<ProfileRow> rows = spans->table.rows(false);
        if (m_setup->device.isCuda()) {
            Result<GraphProfile> graph = measureGraph(pass, model.modules(), model.hooks(), m_setup->device, {}, {}, context.stop);
            if (graph) addGpuColumns(rows, *graph, model.modules(), ProfileLevel::type);
            else if (graph.error().code == ErrorCode::cancelled) return graph.error();
            else row.reason = "no GPU time: " + graph.error().message;
        }
        fillTimes(spans->table.plainUs(), rows, row);
        sendShares(point, rows, context);
        return {};
    }

    static void fillTimes(const std::vector<double>& plainUs, const std::vector<ProfileRow>& rows, ContextRow& row) {
        if (plainUs.empty()) return;
        row.status = "ok";
        const Interval interval = bootstrapMedian(plainUs);
        row.decodeMsPerToken = median(plainUs) / 1e3;
        row.decodeCiLowMs = interval.low / 1e3;
        row.decodeCiHighMs = interval.high / 1e3;
        row.decodeTokensPerS = 1e3 * static_cast<double>(row.batch) / *row.decodeMsPerToken;
        for (const ProfileRow& each : rows) {
            if (each.name == "total" && each.gpuUs) row.gpuMsPerToken = *each.gpuUs / 1e3;
        }
    }

    static void sendShares(const Point& point, const std::vector<ProfileRow>& rows, JobContext& context) {
        for (const ProfileRow& each : rows) {
            if (each.name == "total" || each.name == "profiler tax") continue;
            const ContextShareRow share{point.batch, point.context, each.name, each.spanSharePct, each.gpuSharePct};
            context.row(rowKey(share), share);
        }
    }

    void say(const Point& point, JobContext& context) {
        const auto total = static_cast<std::int64_t>(m_points.size());
        context.progress({fmt::format("Decode at {} tokens, batch {}", point.context, point.batch), m_done, total, m_clock.secondsLeft(m_done, total), {}});
    }

    Finished finished() const {
        Finished finished;
        if (!m_measured.empty()) {
            const ContextRow &first = m_measured.front(), &last = m_measured.back();
            finished.headline = fmt::format("{} ms a token at {} tokens", formatSignificant(*first.decodeMsPerToken), first.contextTokens);
            if (m_measured.size() > 1) {
                finished.headline += fmt::format(", {} ms at {} tokens and batch {}", formatSignificant(*last.decodeMsPerToken), last.contextTokens, last.batch);
            }
        } else {
            finished.headline = "no point could be measured";
        }
        m_patch->describe(finished.result);
        return finished;
    }

    JobRequest m_request;
    std::int64_t m_iterations = 20, m_warmup = 3, m_done = 0;
    std::vector<Point> m_points;
    std::vector<ContextRow> m_measured;
    std::optional<ModelSetup> m_setup;
    std::optional<JobPatch> m_patch;
    ProgressClock m_clock, m_beat;
};

}  // namespace

std::unique_ptr<Job> makeContextJob(const JobRequest& request) { return std::make_unique<ContextJob>(request); }

}  // namespace kernelscope
