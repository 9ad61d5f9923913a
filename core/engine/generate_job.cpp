// The generate job: text or token ids in, tokens out as they come, and the figures of the call.

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include "core/engine/job.h"
#include "core/engine/job_patch.h"
#include "core/engine/model_setup.h"
#include "core/engine/settings.h"
#include "core/model/chat.h"
#include "core/model/generate.h"
#include "core/model/graph_decode.h"
#include "core/model/npy.h"
#include "core/model/tokenizer.h"
#include "core/records/format.h"
#include "core/records/rows.h"

namespace kernelscope {
namespace {

struct GenerateSettings {
    std::string prompt;
    std::vector<std::int64_t> promptIds;
    bool raw = false;
    bool graphMode = false;
    std::string patch;
    KernelSettings kernel;
    std::string logitsFile, promptLogitsFile;
    GenerateOptions options;
};

GenerateSettings readSettings(SettingsReader& reader, std::int64_t seed) {
    GenerateSettings settings;
    settings.prompt = reader.text("prompt", "");
    settings.promptIds = reader.integers("prompt_ids");
    settings.raw = reader.flag("raw", false);
    settings.options.newTokens = reader.integer("new_tokens", 50, 0, 10'000'000);
    settings.options.ignoreEos = reader.flag("ignore_eos", false);
    settings.graphMode = reader.choice("mode", "eager", {"eager", "graph"}) == "graph";
    settings.options.sampling.temperature = reader.number("temperature", 0, 0, 100);
    settings.options.sampling.topP = reader.number("top_p", 1, 0, 1);
    settings.options.sampling.seed = seed;
    settings.patch = reader.text("patch", "");
    settings.kernel = readKernelSettings(reader);
    settings.logitsFile = reader.text("logits", "");
    settings.promptLogitsFile = reader.text("prompt_logits", "");
    settings.options.captureLogits = !settings.logitsFile.empty();
    settings.options.capturePromptLogits = !settings.promptLogitsFile.empty();
    return settings;
}

nlohmann::json numberOrNull(double value) { return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr); }

class GenerateJob final : public Job {
public:
    explicit GenerateJob(const JobRequest& request) : m_request(request) {}

    Result<JobStarted> prepare(ModelHolder& models) override {
        SettingsReader reader(m_request.settings);
        m_settings = readSettings(reader, m_request.seed);
        Result<nlohmann::json> complete = reader.finish();
        if (!complete) return complete.error();
        for (const std::string& file : {m_settings.logitsFile, m_settings.promptLogitsFile})
            if (const Result<void> ready = file.empty() ? Result<void>() : prepareNpy(file); !ready) return ready.error();
        if (m_settings.prompt.empty() == m_settings.promptIds.empty()) {
            return makeError(ErrorCode::usage, "generate needs a prompt, as text or as token ids, and not both", "Use --prompt TEXT or --prompt-ids LIST.");
        }
        Result<ModelSetup> setup = prepareModel(m_request);
        if (!setup) return setup.error();
        m_setup = std::move(*setup);
        if (m_settings.graphMode && !m_setup->device.isCuda()) {
            return makeError(ErrorCode::environment, "Graph mode needs a CUDA device; this job runs on " + m_setup->device.info.name, "Use --mode eager.");
        }
        const Result<JobKernel> kernel = JobKernel::load(m_settings.kernel, m_setup->device);
        if (!kernel) return kernel.error();
        if (m_settings.patch.empty() && kernel->given()) (*complete)["patch"] = m_settings.patch = kernel->patch();
        Result<JobPatch> patched = JobPatch::read(m_settings.patch, *m_setup, *kernel);
        if (!patched) return patched.error();
        m_patch = std::move(*patched);
        if (const Result<void> encoded = encodePrompt(); !encoded) return encoded.error();
        if (const Result<void> good = checkOptions(m_settings.options, m_setup->config); !good) return good.error();
        const auto prompt = static_cast<std::int64_t>(m_settings.options.promptIds.size());
        const std::int64_t logitRows = m_settings.options.capturePromptLogits ? prompt : 1;
        if (const Result<void> fits = checkMemory(*m_setup, models, {1, prompt + m_settings.options.newTokens, prompt, logitRows}); !fits) return fits.error();
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
        const auto promptRows = static_cast<std::int64_t>(m_settings.options.promptIds.size());
        if (const Result<void> right = m_patch->prove(*m_setup, {1, promptRows}, context); !right) return failed(right.error());
        model.setPatchTable(m_patch->table());
        model.setStop(context.stop);

        std::optional<StreamingDecoder> decoder;
        if (m_tokenizer) decoder.emplace(*m_tokenizer);
        std::string text;
        const auto prompt = static_cast<std::int64_t>(m_settings.options.promptIds.size());
        m_settings.options.stop = context.stop;
        m_settings.options.onToken = [&](const GeneratedToken& token) {
            TokenRow row;
            row.position = token.position - prompt;
            row.tokenId = token.id;
            if (decoder) row.text = decoder->push(token.id);
            row.elapsedMs = token.elapsedMs;
            text += row.text;
            context.row(std::to_string(row.position), row);
            context.progress({"Generating", row.position + 1, m_settings.options.newTokens, std::nullopt, {}});
        };
        Result<GenerateResult> generated = runGenerator(model);
        if (!generated) return failed(generated.error());
        if (decoder) text += decoder->finish();
        if (const Result<void> written = writeLogits(*generated); !written) return failed(written.error());
        return finish(*generated, text);
    }

private:
    Result<void> encodePrompt() {
        m_settings.options.promptIds = m_settings.promptIds;
        Result<std::optional<Tokenizer>> loaded = loadTokenizer(m_setup->source);
        if (!loaded) {
            if (m_settings.prompt.empty()) return {};  // ids need no tokenizer
            return loaded.error();
        }
        m_tokenizer = std::move(*loaded);
        // Rows of the embedding beyond the tokenizer's ids are padding.
        if (m_tokenizer) m_settings.options.usableVocab = std::min(m_tokenizer->end(), m_setup->config.vocabSize);
        if (m_settings.prompt.empty()) return {};
        if (!m_tokenizer) {
            return makeError(ErrorCode::badInput, fmt::format("{} has no tokenizer, so a prompt cannot be text", m_setup->source.argument),
                             "Put tokenizer.json beside config.json, or give token ids with --prompt-ids.");
        }
        std::string text = m_settings.prompt;
        if (!m_settings.raw) {
            const Result<std::optional<std::filesystem::path>> folder = tokenizerFolder(m_setup->source);
            if (!folder) return folder.error();
            const Result<ChatTemplate> chat = ChatTemplate::load(**folder, *m_tokenizer);
            if (!chat) return chat.error();
            text = chat->render(text);
        }
        Result<std::vector<std::int64_t>> ids = m_tokenizer->encode(text);
        if (!ids) return ids.error();
        m_settings.options.promptIds = std::move(*ids);
        return {};
    }

    Result<GenerateResult> runGenerator(Qwen2Model& model) const {
        if (!m_settings.graphMode) return generate(model, m_settings.options);
        const auto capacity = static_cast<std::int64_t>(m_settings.options.promptIds.size()) + m_settings.options.newTokens;
        Result<Generator> generator = Generator::create(model, 1, capacity);
        if (!generator) return generator.error();
        Result<std::unique_ptr<DecodeStep>> step = captureDecodeStep(*generator, m_settings.options.usableVocab);
        if (!step) return step.error();
        generator->setDecodeStep(std::move(*step));
        return generator->run(m_settings.options);
    }

    Result<void> writeLogits(const GenerateResult& generated) const {
        const auto write = [](const std::string& file, const at::Tensor& logits) -> Result<void> {
            if (file.empty() || !logits.defined()) return {};
            return writeNpy(file, {logits.const_data_ptr<float>(), static_cast<std::size_t>(logits.numel())}, logits.size(0), logits.size(1));
        };
        if (const Result<void> written = write(m_settings.logitsFile, generated.logits); !written) return written;
        return write(m_settings.promptLogitsFile, generated.promptLogits);
    }

    Finished finish(const GenerateResult& generated, const std::string& text) const {
        Finished finished = generated.finish == FinishReason::cancelled ? cancelled() : Finished{};
        nlohmann::json& result = finished.result;
        result["prompt_ids"] = m_settings.options.promptIds;
        result["token_ids"] = generated.tokenIds;
        result["text"] = m_tokenizer ? nlohmann::json(text) : nlohmann::json(nullptr);
        result["finish_reason"] = toString(generated.finish);
        result["ttft_ms"] = numberOrNull(generated.ttftMs);
        result["prefill_tokens_per_s"] = numberOrNull(generated.prefillTokensPerSecond);
        result["decode_ms_per_token"] = numberOrNull(generated.decodeMsPerToken);
        result["decode_tokens_per_s"] = numberOrNull(generated.decodeTokensPerSecond);
        result["total_ms"] = generated.totalMs;
        m_patch->describe(result);
        finished.headline = fmt::format("{} tokens in {}", generated.tokenIds.size(), formatMicroseconds(1000 * generated.totalMs));
        if (std::isfinite(generated.decodeTokensPerSecond)) {
            finished.headline += fmt::format(" · decode {} tokens/s", formatSignificant(generated.decodeTokensPerSecond));
        }
        return finished;
    }

    JobRequest m_request;
    GenerateSettings m_settings;
    std::optional<ModelSetup> m_setup;
    std::optional<JobPatch> m_patch;
    std::optional<Tokenizer> m_tokenizer;
};

}  // namespace

std::unique_ptr<Job> makeGenerateJob(const JobRequest& request) { return std::make_unique<GenerateJob>(request); }

}  // namespace kernelscope
