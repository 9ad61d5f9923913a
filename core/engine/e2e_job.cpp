// The e2e job: generate() native and patched, in turn, and why the one is as much faster than the other as it is.

#include <algorithm>
#include <array>

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include "core/engine/e2e_ledger.h"
#include "core/engine/job.h"
#include "core/engine/job_patch.h"
#include "core/engine/model_setup.h"
#include "core/engine/patch_proof.h"
#include "core/engine/settings.h"
#include "core/measure/end_to_end.h"
#include "core/model/generate.h"
#include "core/model/graph_decode.h"
#include "core/model/tokenizer.h"
#include "core/records/format.h"
#include "core/records/progress_clock.h"

namespace kernelscope {
namespace {

struct EndToEndSettings {
    std::string patch;
    std::int64_t newTokens = 50, runs = 10, warmup = 2;
    EndToEndShape shape;
    std::vector<std::string> modes;
};

/// One of the things compared. Native and patched eager share a generator; each graph has its own, since it is tied to one.
struct Configuration {
    GenerateSeries series;
    bool patched = false;
    Generator* generator = nullptr;
    std::vector<float> logitsWhereItParts;  // of a native one: the logits at the step where its patched twin went another way
};

/// Every operator's fused variant that runs here.
std::string defaultPatch(const Device& device) {
    std::vector<PatchChoice> choices;
    const OperatorTable operators = builtinOperators();
    for (const auto& op : operators.all()) {
        const Variant* fused = op->find("fused");
        if (fused && fused->supports(device.torch)) choices.push_back({op->name(), fused->name});
    }
    return patchText(choices);
}

/// The model goes back to its native table when a job ends, however it ends.
class NativeAtTheEnd {
public:
    explicit NativeAtTheEnd(Qwen2Model& model) : m_model(model) {}
    ~NativeAtTheEnd() { m_model.setPatchTable(nativePatchTable()); }
    NativeAtTheEnd(const NativeAtTheEnd&) = delete;

private:
    Qwen2Model& m_model;
};

class EndToEndJob final : public Job {
public:
    explicit EndToEndJob(const JobRequest& request) : m_request(request) {}

    Result<JobStarted> prepare(ModelHolder& models) override {
        SettingsReader reader(m_request.settings);
        m_settings.patch = reader.text("patch", "");
        const KernelSettings kernelSettings = readKernelSettings(reader);
        m_settings.newTokens = reader.integer("new_tokens", 50, 1, 1'000'000);
        m_settings.shape.promptTokens = reader.integer("prompt_tokens", 32, 1, 1'000'000);
        m_settings.shape.batch = reader.integer("batch", 1, 1, 4096);
        m_settings.runs = reader.integer("runs", 10, 1, 100'000);
        m_settings.warmup = reader.integer("warmup", 2, 0, 100'000);
        const std::string mode = reader.choice("mode", "eager", {"eager", "graph", "both"});
        if (mode != "graph") m_settings.modes.emplace_back("eager");
        if (mode != "eager") m_settings.modes.emplace_back("graph");
        Result<nlohmann::json> complete = reader.finish();
        if (!complete) return complete.error();

        Result<ModelSetup> setup = prepareModel(m_request);
        if (!setup) return setup.error();
        m_setup = std::move(*setup);
        if (mode != "eager" && !m_setup->device.isCuda()) {
            return makeError(ErrorCode::environment, "Graph mode needs a CUDA device; this job runs on " + m_setup->device.info.name, "Use --mode eager.");
        }
        Result<JobKernel> kernel = JobKernel::load(kernelSettings, m_setup->device);
        if (!kernel) return kernel.error();
        m_kernel = std::move(*kernel);
        if (m_settings.patch.empty() && m_kernel.given()) m_settings.patch = m_kernel.patch();  // asked for by name: the file's
        m_patchByDefault = m_settings.patch.empty();
        if (m_patchByDefault) m_settings.patch = defaultPatch(m_setup->device);
        (*complete)["patch"] = m_settings.patch;
        Result<JobPatch> patched = JobPatch::read(m_settings.patch, *m_setup, m_kernel);
        if (!patched) return patched.error();
        m_patch = std::move(*patched);
        if (const Result<void> fits = checkSizes(models); !fits) return fits.error();
        Result<std::optional<Tokenizer>> tokenizer = loadTokenizer(m_setup->source);
        if (tokenizer) m_tokenizer = std::move(*tokenizer);  // without one the tokens are ids, and that is all right
        JobStarted started = describe(*m_setup);
        started.settings = std::move(*complete);
        m_kernel.describe(started);
        return started;
    }

    Finished run(JobContext& context) override {
        const c10::InferenceMode inference;
        if (const Result<void> active = activate(m_setup->device); !active) return failed(active.error());
        Result<std::shared_ptr<Qwen2Model>> loaded = context.models.get(*m_setup, context);
        if (!loaded) return failed(loaded.error());
        Qwen2Model& model = **loaded;
        if (const Result<void> proven = provePatch(context); !proven) return failed(proven.error());
        const NativeAtTheEnd nativeAtTheEnd(model);
        m_prompt = measurementPrompt(model, 1, m_settings.shape.promptTokens, m_setup->seed).to(at::kCPU).view({-1});
        if (const Result<void> ready = makeConfigurations(model, context); !ready) return failed(ready.error());

        Finished finished;
        if (const Result<void> timed = runAll(model, context); !timed) {
            // What was measured stands, even if it is less than was asked for.
            for (const Configuration& which : m_configurations) {
                if (!which.series.runs.empty()) send(which, rowOf(which, timed.error().code == ErrorCode::cancelled ? "cancelled" : "failed"), context);
            }
            return failed(timed.error());
        }
        if (const Result<void> gaps = findLogitGaps(model, context); !gaps) return failed(gaps.error());
        Result<std::vector<Ledger>> ledgers = makeLedgers(model, context);
        if (!ledgers) return failed(ledgers.error());
        finish(*ledgers, context, finished);
        return finished;
    }

private:
    [[nodiscard]] std::int64_t capacity() const { return m_settings.shape.promptTokens + m_settings.newTokens; }

    Result<void> checkSizes(ModelHolder& models) const {
        if (capacity() > m_setup->config.contextLength) {
            return makeError(ErrorCode::usage, fmt::format("A prompt of {} tokens and {} new ones exceed the context of {} ({})", m_settings.shape.promptTokens,
                                                           m_settings.newTokens, m_setup->config.contextLength, m_setup->config.name),
                             "Use a shorter --prompt-tokens or fewer --new-tokens.");
        }
        // One cache for eager mode, two for graph mode.
        std::int64_t caches = 0;
        for (const std::string& mode : m_settings.modes) caches += mode == "graph" ? 2 : 1;
        return checkMemory(*m_setup, models, {m_settings.shape.batch, caches * capacity(), m_settings.shape.promptTokens, 1});
    }

    /// A variant that is wrong at the model's shapes is refused; where nobody asked for it by name, its operator stays native.
    Result<void> provePatch(JobContext& context) {
        constexpr std::int64_t kMostRows = 1024;  // rows are alike: a long prompt is validated by its first ones
        const std::vector<std::int64_t> rows{std::min(m_settings.shape.batch, kMostRows), std::min(m_settings.shape.batch * m_settings.shape.promptTokens, kMostRows)};
        Result<std::vector<PatchVerdict>> verdicts = validatePatch(*m_patch, *m_setup, rows, context);
        if (!verdicts) return verdicts.error();
        const Result<std::vector<PatchChoice>> kept = rightChoices(*verdicts, !m_patchByDefault, m_notes);
        if (!kept) return kept.error();
        if (kept->size() != m_patch->choices().size()) {
            Result<JobPatch> patched = JobPatch::read(patchText(*kept), *m_setup, m_kernel);
            if (!patched) return patched.error();
            m_patch = std::move(*patched);
        }
        m_patch->remember(*verdicts);
        return {};
    }

    Result<Generator*> addGenerator(Qwen2Model& model) {
        Result<Generator> made = Generator::create(model, m_settings.shape.batch, capacity());
        if (!made) return made.error();
        m_generators.push_back(std::make_unique<Generator>(std::move(*made)));
        return m_generators.back().get();
    }

    void useTable(Qwen2Model& model, bool patched, JobContext& context) const {
        model.setPatchTable(patched ? m_patch->table() : nativePatchTable());
        context.kernel = patched ? m_patch->inForce() : std::string();
    }

    [[nodiscard]] std::int64_t usableVocab() const {
        return m_tokenizer ? std::min(m_tokenizer->end(), m_setup->config.vocabSize) : m_setup->config.vocabSize;
    }

    Result<void> makeConfigurations(Qwen2Model& model, JobContext& context) {
        for (const std::string& mode : m_settings.modes) {
            Generator* shared = nullptr;
            for (const bool patched : {false, true}) {
                Configuration made;
                made.series.configuration = patched ? "patched" : "native";
                made.series.mode = mode;
                made.patched = patched;
                if (mode == "eager" && shared) {
                    made.generator = shared;
                } else {
                    Result<Generator*> generator = addGenerator(model);
                    if (!generator) return generator.error();
                    made.generator = shared = *generator;
                }
                if (mode == "graph") {
                    useTable(model, patched, context);
                    context.progress({"Capturing the decode step", 0, 0, std::nullopt, {}});
                    Result<std::unique_ptr<DecodeStep>> step = captureDecodeStep(*made.generator, usableVocab());
                    if (!step) return step.error();
                    made.generator->setDecodeStep(std::move(*step));
                }
                m_configurations.push_back(std::move(made));
            }
        }
        return {};
    }

    [[nodiscard]] GenerateOptions optionsFor(std::int64_t newTokens, const JobContext& context) const {
        GenerateOptions options;
        options.promptIds.assign(m_prompt.const_data_ptr<std::int64_t>(), m_prompt.const_data_ptr<std::int64_t>() + m_prompt.numel());
        options.newTokens = newTokens;
        options.ignoreEos = true;
        options.usableVocab = usableVocab();
        options.stop = context.stop;
        return options;
    }

    Result<GenerateResult> generateOnce(Qwen2Model& model, Configuration& which, const GenerateOptions& options, JobContext& context) const {
        useTable(model, which.patched, context);
        Result<GenerateResult> generated = which.generator->run(options);
        if (generated && generated->finish == FinishReason::cancelled) return makeError(ErrorCode::cancelled, "Cancelled");
        return generated;
    }

    /// Warm-up rounds, then timed ones; every other round runs backwards, so that drift falls on all alike.
    Result<void> runAll(Qwen2Model& model, JobContext& context) {
        const GenerateOptions base = optionsFor(m_settings.newTokens, context);
        const auto count = static_cast<std::int64_t>(m_configurations.size());
        const std::int64_t total = (m_settings.warmup + m_settings.runs) * count;
        std::int64_t done = 0;
        ProgressClock clock;
        for (std::int64_t round = -m_settings.warmup; round < m_settings.runs; ++round) {
            for (std::int64_t place = 0; place < count; ++place) {
                Configuration& which = m_configurations[static_cast<std::size_t>(round % 2 == 0 ? place : count - 1 - place)];
                GenerateOptions options = base;
                std::optional<StreamingDecoder> decoder;  // a real call turns its tokens into text as they come
                if (m_tokenizer) decoder.emplace(*m_tokenizer);
                options.onToken = [&](const GeneratedToken& token) {
                    if (decoder) (void)decoder->push(token.id);
                };
                const auto announce = [&] { context.progress({round < 0 ? "Warming up" : "Timed runs", done, total, clock.secondsLeft(done, total), endToEndKey(which.series)}); };
                useTable(model, which.patched, context);
                announce();  // before the run: whoever takes the engine along is known by name
                Result<GenerateResult> generated = generateOnce(model, which, options, context);
                if (!generated) return generated.error();
                if (round >= 0) keep(which, std::move(*generated), context);
                ++done;
                announce();
            }
        }
        return {};
    }

    void keep(Configuration& which, GenerateResult&& generated, JobContext& context) {
        if (which.series.runs.empty()) which.series.tokenIds = std::move(generated.tokenIds);
        which.series.runs.push_back({generated.ttftMs, generated.totalMs, generated.outsideForwardMs, std::move(generated.stepMs)});
        context.row(endToEndKey(which.series), rowOf(which, "running"));
    }

    [[nodiscard]] const Configuration& nativeOf(const Configuration& which) const {
        return *std::find_if(m_configurations.begin(), m_configurations.end(),
                             [&](const Configuration& each) { return !each.patched && each.series.mode == which.series.mode; });
    }
    [[nodiscard]] EndToEndRow rowOf(const Configuration& which, const std::string& status) const {
        const Configuration& native = nativeOf(which);
        const Configuration& first = m_configurations.front();
        EndToEndRow row = endToEndRow(which.series, native.series, first.series.mode == "eager" ? &first.series : nullptr, m_settings.shape, status);
        if (row.firstDivergence && !native.logitsWhereItParts.empty()) {
            const auto at = static_cast<std::size_t>(*row.firstDivergence);
            row.logitGap = logitGap(native.logitsWhereItParts, native.series.tokenIds[at], which.series.tokenIds[at]);
        }
        return row;
    }

    /// One native run more for each mode whose texts part, this time with its logits kept.
    Result<void> findLogitGaps(Qwen2Model& model, JobContext& context) {
        for (Configuration& which : m_configurations) {
            if (which.patched) continue;
            const auto twin = std::find_if(m_configurations.begin(), m_configurations.end(),
                                           [&](const Configuration& each) { return each.patched && each.series.mode == which.series.mode; });
            const std::optional<std::int64_t> parts = firstDivergence(which.series.tokenIds, twin->series.tokenIds);
            if (!parts) continue;
            GenerateOptions options = optionsFor(*parts + 1, context);
            options.captureLogits = true;
            Result<GenerateResult> generated = generateOnce(model, which, options, context);
            if (!generated) return generated.error();
            const at::Tensor last = generated->logits.select(0, *parts).contiguous();
            which.logitsWhereItParts.assign(last.const_data_ptr<float>(), last.const_data_ptr<float>() + last.numel());
        }
        return {};
    }

    Result<std::vector<Ledger>> makeLedgers(Qwen2Model& model, JobContext& context) {
        std::vector<LedgerMode> modes;
        for (const Configuration& which : m_configurations) {
            if (which.patched) continue;
            LedgerMode mode;
            mode.graph = which.series.mode == "graph";
            mode.generator = which.generator;
            std::vector<double> prefill, decode, steps;
            for (const GenerateRun& run : which.series.runs) {
                prefill.push_back(run.ttftMs);
                double sum = 0;
                for (const double step : run.stepMs) sum += step;
                decode.push_back(sum);
                steps.insert(steps.end(), run.stepMs.begin(), run.stepMs.end());
            }
            mode.prefillMs = median(prefill);
            mode.decodeMs = median(decode);
            if (!steps.empty()) mode.stepMs = median(steps);
            modes.push_back(mode);
        }
        const LedgerTask task{*m_setup, *m_patch, m_settings.shape, m_settings.newTokens, m_prompt};
        Result<std::vector<Ledger>> ledgers = measureLedgers(task, modes, model, context, m_notes);
        if (!ledgers) return ledgers.error();
        for (Ledger& ledger : *ledgers) {
            for (const Configuration& which : m_configurations) {
                if (!which.patched || which.series.mode != ledger.mode) continue;
                const EndToEndRow row = rowOf(which, "ok");
                if (row.speedup) ledger.measured = Measured{*row.speedup, {row.speedupCiLow.value_or(*row.speedup), row.speedupCiHigh.value_or(*row.speedup)}};
            }
        }
        return ledgers;
    }

    void finish(const std::vector<Ledger>& ledgers, JobContext& context, Finished& finished) const {
        nlohmann::json& result = finished.result;
        for (const Configuration& which : m_configurations) {
            EndToEndRow row = rowOf(which, "ok");
            if (which.patched) {
                const auto ledger = std::find_if(ledgers.begin(), ledgers.end(), [&](const Ledger& each) { return each.mode == which.series.mode; });
                row.predictedBySpan = ledger->predicted(LedgerClock::span);
                row.predictedByGpu = ledger->predicted(LedgerClock::gpu);
                finished.headline += headline(row, finished.headline.empty());
            }
            send(which, row, context);
            const std::vector<std::int64_t>& ids = which.series.tokenIds;
            result["generated"][which.series.mode][which.series.configuration] = {
                {"token_ids", ids}, {"text", m_tokenizer ? nlohmann::json(m_tokenizer->decode(ids)) : nlohmann::json(nullptr)}};
        }
        result["prompt_ids"] = std::vector<std::int64_t>(m_prompt.const_data_ptr<std::int64_t>(), m_prompt.const_data_ptr<std::int64_t>() + m_prompt.numel());
        if (!m_setup->checkpoint) result["text_note"] = "The weights are random: the text means nothing.";
        for (const Ledger& ledger : ledgers) result["ledger"][ledger.mode] = ledger.toJson();
        if (!m_notes.empty()) result["notes"] = m_notes;
        m_patch->describe(result);
    }

    /// A row for good, and what stands behind it.
    static void send(const Configuration& which, const EndToEndRow& row, JobContext& context) {
        context.row(endToEndKey(which.series), row);
        for (const SampleRow& sample : endToEndSamples(which.series)) {
            context.row(fmt::format("{}/{}/{}", sample.rowKey, sample.metric, sample.pass), sample);
        }
    }

    static std::string headline(const EndToEndRow& row, bool first) {
        std::string text = first ? "" : " · ";
        if (row.speedup) {
            const std::string figure = row.verdict == "cant_tell" ? "can't tell" : row.verdict == "same" ? "as fast" : formatRatio(*row.speedup);
            text += fmt::format("{} {} ({} to {})", row.mode, figure, formatRatio(*row.speedupCiLow), formatRatio(*row.speedupCiHigh));
        }
        if (row.decodeTokensPerS) text += fmt::format(", {} tokens/s", formatSignificant(*row.decodeTokensPerS));
        return text + (row.tokensMatch.value_or(false) ? ", same tokens" : fmt::format(", tokens differ from number {} on", row.firstDivergence.value_or(0)));
    }

    JobRequest m_request;
    EndToEndSettings m_settings;
    std::optional<ModelSetup> m_setup;
    std::optional<JobPatch> m_patch;
    std::optional<Tokenizer> m_tokenizer;
    at::Tensor m_prompt;  // int64 [prompt], on the CPU
    std::vector<std::unique_ptr<Generator>> m_generators;
    std::vector<Configuration> m_configurations;
    std::vector<std::string> m_notes;
    bool m_patchByDefault = false;
    JobKernel m_kernel;
};

}  // namespace

std::unique_ptr<Job> makeEndToEndJob(const JobRequest& request) { return std::make_unique<EndToEndJob>(request); }

}  // namespace kernelscope
