#include "core/model/generate.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>

#include <ATen/ATen.h>
#include <c10/core/Event.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "core/model/pass_timer.h"

namespace kernelscope {
namespace {

using Clock = std::chrono::steady_clock;

class EagerStep final : public DecodeStep {
public:
    EagerStep(Qwen2Model& model, at::Tensor tokens) : m_model(model), m_tokens(std::move(tokens)) {}
    void begin(const KvCache&) override {}
    at::Tensor run(KvCache& cache) override { return m_model.forward(m_tokens, cache).select(1, 0); }

private:
    Qwen2Model& m_model;
    at::Tensor m_tokens;
};

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

Error usage(std::string message, std::string advice) { return makeError(ErrorCode::usage, std::move(message), std::move(advice)); }

// While this lives, the model's passes end early once a stop is asked for.
class StopScope {
public:
    StopScope(Qwen2Model& model, std::stop_token stop) : m_model(model) { m_model.setStop(std::move(stop)); }
    ~StopScope() { m_model.setStop({}); }
    StopScope(const StopScope&) = delete;

private:
    Qwen2Model& m_model;
};

// One text: its timing, its tokens, what is captured on the way.
class Text {
public:
    Text(const GenerateOptions& options, const Qwen2Model& model, std::int64_t batch)
        : m_options(options), m_batch(batch), m_started(Clock::now()), m_timer(model.device()),
          m_usableVocab(options.usableVocab > 0 ? std::min(options.usableVocab, model.config().vocabSize) : model.config().vocabSize),
          m_picker(options.sampling, m_usableVocab), m_host(at::empty({1}, at::kLong)) {
        if (!options.ignoreEos) m_stopIds = options.stopIds.empty() ? model.config().eosTokenIds : options.stopIds;
        m_result.tokenIds.reserve(static_cast<std::size_t>(options.newTokens));
        m_result.stepMs.reserve(static_cast<std::size_t>(options.newTokens));
        if (options.captureLogits) m_result.logits = at::empty({options.newTokens, model.config().vocabSize}, at::kFloat);
    }

    PassTimer& timer() { return m_timer; }
    [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(m_result.tokenIds.size()); }

    void capturePrompt(const at::Tensor& logits) { m_result.promptLogits = logits.select(0, 0).to(at::kCPU, at::kFloat); }

    /// Picks from `logits` [batch, vocab] unless that is done, brings the token home, and says whether the text goes on.
    bool take(const at::Tensor& logits, bool picked, at::Tensor& tokens) {
        if (!picked) m_picker.pick(logits, count(), tokens);
        if (m_options.captureLogits) m_result.logits.select(0, count()).copy_(logits.select(0, 0));
        m_host.copy_(tokens.select(0, 0));  // the one copy of a step, and its one wait
        m_timer.settle();
        return keep(*m_host.const_data_ptr<std::int64_t>());
    }

    /// A token that is home. Returns whether the text goes on.
    bool keep(std::int64_t id) {
        GeneratedToken token;
        token.id = id;
        token.position = static_cast<std::int64_t>(m_options.promptIds.size()) + count();
        token.stop = std::find(m_stopIds.begin(), m_stopIds.end(), token.id) != m_stopIds.end();
        token.elapsedMs = elapsedMs();
        if (count() == 0) m_result.ttftMs = token.elapsedMs;
        else m_result.stepMs.push_back(token.elapsedMs - m_lastMs);
        m_lastMs = token.elapsedMs;
        m_result.tokenIds.push_back(token.id);
        if (m_options.onToken) m_options.onToken(token);

        if (token.stop) m_result.finish = FinishReason::stop;
        return !token.stop && count() < m_options.newTokens;
    }

    /// Whether steps may run before the host knows the tokens they follow: nothing then depends on what a token is.
    [[nodiscard]] bool mayRunAhead() const { return m_stopIds.empty() && !m_options.captureLogits; }
    void addForwardMs(double milliseconds) { m_aheadMs += milliseconds; }

    void cancel() { m_result.finish = FinishReason::cancelled; }

    GenerateResult finish() {
        m_result.totalMs = elapsedMs();
        m_result.outsideForwardMs = std::max(0.0, m_result.totalMs - m_timer.sumMs() - m_aheadMs);
        if (m_result.logits.defined()) m_result.logits = m_result.logits.narrow(0, 0, count());
        if (count() > 0) {
            m_result.prefillTokensPerSecond =
                1e3 * static_cast<double>(m_options.promptIds.size()) * static_cast<double>(m_batch) / m_result.ttftMs;
        }
        if (!m_result.stepMs.empty()) {
            m_result.decodeMsPerToken = median(m_result.stepMs);
            m_result.decodeTokensPerSecond = 1e3 * static_cast<double>(m_batch) / m_result.decodeMsPerToken;
        }
        return std::move(m_result);
    }

private:
    [[nodiscard]] double elapsedMs() const { return std::chrono::duration<double, std::milli>(Clock::now() - m_started).count(); }

    const GenerateOptions& m_options;
    std::int64_t m_batch;
    Clock::time_point m_started;
    PassTimer m_timer;
    std::int64_t m_usableVocab;
    TokenPicker m_picker;
    at::Tensor m_host;
    std::vector<std::int64_t> m_stopIds;
    double m_lastMs = 0;
    double m_aheadMs = 0;  // of passes that m_timer did not time
    GenerateResult m_result;
};

// Steps that leave their token on the device need nothing from the host, so the next one is enqueued before the last one's
// token has come home: the device never waits for a launch. Two are under way at a time, each with its own place on the host.
class StepsAhead {
public:
    StepsAhead(DecodeStep& step, KvCache& cache, const at::Tensor& tokens)
        : m_step(step), m_cache(cache), m_tokens(tokens.select(0, 0)),
          m_host(at::empty({2}, at::TensorOptions().dtype(at::kLong).pinned_memory(true))) {
        for (Slot& slot : m_slots) {
            for (std::optional<c10::Event>* event : {&slot.begin, &slot.end, &slot.home}) event->emplace(tokens.device().type(), c10::EventFlag::BACKEND_DEFAULT);
        }
    }
    ~StepsAhead() {
        try {
            while (m_taken < m_launched) (void)take();  // what is under way writes to m_host
        } catch (const std::exception&) {
            // A device that has faulted says so at the next call too.
        }
    }
    StepsAhead(const StepsAhead&) = delete;

    [[nodiscard]] std::int64_t launched() const { return m_launched; }

    void launch() {
        Slot& slot = slotOf(m_launched);
        const c10::Stream stream = c10::impl::VirtualGuardImpl(m_tokens.device().type()).getStream(m_tokens.device());
        slot.begin->record(stream);
        (void)m_step.run(m_cache);
        slot.end->record(stream);
        m_host.narrow(0, m_launched % 2, 1).copy_(m_tokens, /*non_blocking=*/true);
        slot.home->record(stream);
        ++m_launched;
    }

    struct Taken { std::int64_t id; double forwardMs; };
    /// The oldest token under way, waited for.
    Taken take() {
        Slot& slot = slotOf(m_taken);
        slot.home->synchronize();
        return {m_host.const_data_ptr<std::int64_t>()[m_taken++ % 2], slot.begin->elapsedTime(*slot.end)};
    }

private:
    struct Slot { std::optional<c10::Event> begin, end, home; };
    Slot& slotOf(std::int64_t step) { return m_slots[static_cast<std::size_t>(step % 2)]; }

    DecodeStep& m_step;
    KvCache& m_cache;
    at::Tensor m_tokens;  // int64 [1]: row 0's
    at::Tensor m_host;    // pinned: a copy to it does not wait
    std::array<Slot, 2> m_slots;
    std::int64_t m_launched = 0, m_taken = 0;
};

// All steps of a text whose length is forced.
void decodeAhead(Text& text, DecodeStep& step, KvCache& cache, const at::Tensor& tokens, const GenerateOptions& options) {
    StepsAhead ahead(step, cache, tokens);
    const std::int64_t steps = options.newTokens - text.count();
    ahead.launch();
    do {
        if (options.stop.stop_requested()) throw PassCancelled();
        if (ahead.launched() < steps) ahead.launch();
        const StepsAhead::Taken taken = ahead.take();
        text.addForwardMs(taken.forwardMs);
        if (!text.keep(taken.id)) return;
    } while (true);
}

}  // namespace

std::string_view toString(FinishReason reason) {
    switch (reason) {
        case FinishReason::stop: return "stop";
        case FinishReason::length: return "length";
        case FinishReason::cancelled: return "cancelled";
    }
    return "";
}

Result<void> checkOptions(const GenerateOptions& options, const ModelConfig& config) {
    if (options.promptIds.empty()) return usage("the prompt is empty", "give at least one token");
    if (options.newTokens < 0) return usage("the number of new tokens is negative", "give 0 or more");
    for (const std::int64_t id : options.promptIds) {
        if (id >= 0 && id < config.vocabSize) continue;
        return usage("token id " + std::to_string(id) + " is outside the vocabulary of " + std::to_string(config.vocabSize),
                     "ids run from 0 to " + std::to_string(config.vocabSize - 1));
    }
    const auto prompt = static_cast<std::int64_t>(options.promptIds.size());
    if (options.newTokens > config.contextLength - prompt) {
        return usage("a prompt of " + std::to_string(prompt) + " tokens and " + std::to_string(options.newTokens) +
                         " new ones pass the model's context of " + std::to_string(config.contextLength),
                     prompt < config.contextLength ? "ask for at most " + std::to_string(config.contextLength - prompt) + " new tokens"
                                                   : "shorten the prompt");
    }
    const Sampling& sampling = options.sampling;
    if (!(sampling.temperature >= 0) || sampling.temperature > 1e6) {  // written so that NaN fails
        return usage("the temperature must be 0 (greedy) or a positive number", "values around 0.7 are usual");
    }
    if (!(sampling.topP > 0 && sampling.topP <= 1)) return usage("top-p must be above 0 and at most 1", "1 keeps every token");
    return {};
}

Generator::Generator(Qwen2Model& model, std::int64_t batch, std::int64_t capacity)
    : m_model(&model), m_batch(batch), m_cache(model.makeCache(batch, capacity)) {
    const c10::InferenceMode inference;
    m_tokens = at::zeros({batch, 1}, at::TensorOptions().dtype(at::kLong).device(model.device()));
    setDecodeStep(nullptr);
}

Result<Generator> Generator::create(Qwen2Model& model, std::int64_t batch, std::int64_t capacity) try {
    if (batch < 1 || capacity < 1) return usage("a batch and a capacity of at least 1 are needed", "");
    return Generator(model, batch, capacity);
} catch (const c10::Error& error) {
    return makeError(ErrorCode::environment,
                     "no memory for a KV cache of " + std::to_string(capacity) + " positions in " + std::to_string(batch) +
                         " rows: " + error.what_without_backtrace(),
                     "ask for fewer tokens or a smaller batch");
} catch (const std::bad_alloc&) {
    return makeError(ErrorCode::environment, "no memory for a KV cache of " + std::to_string(capacity) + " positions",
                     "ask for fewer tokens or a smaller batch");
}

void Generator::setDecodeStep(std::unique_ptr<DecodeStep> step) {
    m_step = step ? std::move(step) : std::make_unique<EagerStep>(*m_model, m_tokens);
}

Result<GenerateResult> Generator::run(const GenerateOptions& options) try {
    if (Result<void> checked = checkOptions(options, m_model->config()); !checked) return checked.error();
    const auto prompt = static_cast<std::int64_t>(options.promptIds.size());
    // The last token is picked, not fed: it needs no place in the cache.
    if (prompt + std::max<std::int64_t>(options.newTokens - 1, 0) > m_cache.capacity()) {
        return usage("a prompt of " + std::to_string(prompt) + " tokens and " + std::to_string(options.newTokens) +
                         " new ones need more than the " + std::to_string(m_cache.capacity()) + " positions made ready",
                     "make a larger cache");
    }
    const c10::InferenceMode inference;
    const StopScope stopScope(*m_model, options.stop);
    m_cache.setLength(0);
    Text text(options, *m_model, m_batch);
    try {
        const at::Tensor tokens = at::tensor(options.promptIds, at::kLong).unsqueeze(0).expand({m_batch, prompt}).to(m_model->device());
        text.timer().begin();
        const at::Tensor logits = m_model->forward(tokens, m_cache, !options.capturePromptLogits);
        text.timer().end();
        if (options.capturePromptLogits) text.capturePrompt(logits);
        if (options.newTokens > 0 && text.take(logits.select(1, logits.size(1) - 1), /*picked=*/false, m_tokens)) {
            const bool picks = m_step->picks() && options.sampling.temperature <= 0;
            m_step->begin(m_cache);
            if (picks && m_model->device().is_cuda() && text.mayRunAhead()) {
                decodeAhead(text, *m_step, m_cache, m_tokens, options);
                return text.finish();
            }
            do {
                if (options.stop.stop_requested()) throw PassCancelled();
                text.timer().begin();
                const at::Tensor next = m_step->run(m_cache);
                text.timer().end();
                if (!text.take(next, picks, m_tokens)) break;
            } while (true);
        }
    } catch (const PassCancelled&) {
        text.cancel();
    }
    return text.finish();
} catch (const c10::OutOfMemoryError& error) {
    return makeError(ErrorCode::environment, std::string("out of memory while generating: ") + error.what_without_backtrace(),
                     "shorten the prompt or lower the batch");
} catch (const c10::Error& error) {
    return makeError(ErrorCode::environment, std::string("generating failed: ") + error.what_without_backtrace());
}

Result<GenerateResult> generate(Qwen2Model& model, const GenerateOptions& options) {
    if (Result<void> checked = checkOptions(options, model.config()); !checked) return checked.error();
    const std::int64_t capacity = static_cast<std::int64_t>(options.promptIds.size()) + std::max<std::int64_t>(options.newTokens, 1) - 1;
    Result<Generator> generator = Generator::create(model, 1, capacity);
    if (!generator) return generator.error();
    return generator->run(options);
}

}  // namespace kernelscope
