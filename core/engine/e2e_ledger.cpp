#include "core/engine/e2e_ledger.h"

#include <algorithm>
#include <map>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "core/measure/operator_shares.h"

namespace kernelscope {
namespace {

// Passes of one phase, half of them with hooks: enough for a share to half a point, within about two seconds on a slow machine.
constexpr double kPassBudgetMs = 2000;
constexpr std::int64_t kFewestPasses = 3, kMostPasses = 20;

std::vector<PatchChoice> replaced(const JobPatch& patch) {
    std::vector<PatchChoice> choices;
    for (const PatchChoice& choice : patch.choices()) {
        if (choice.variant != "native") choices.push_back(choice);
    }
    return choices;
}

class LedgerMaker {
public:
    LedgerMaker(const LedgerTask& task, Qwen2Model& model, JobContext& context, std::vector<std::string>& notes)
        : m_task(task), m_model(model), m_context(context), m_notes(notes), m_choices(replaced(task.patch)), m_modules(model.modules()) {
        PatchTable native = nativePatchTable();
        const bool fusesAdd = std::any_of(m_choices.begin(), m_choices.end(), [](const PatchChoice& each) { return each.op == "add_rms_norm"; });
        if (fusesAdd) native = withUnfusedAddRmsNorm(std::move(native));
        model.setPatchTable(m_modules.instrument(native, model.hooks()));
        model.setStop(context.stop);
        context.kernel.clear();  // native again
    }

    Result<std::vector<Ledger>> make(const std::vector<LedgerMode>& modes) {
        std::map<std::string, std::vector<LedgerOperator>> kernels;  // by phase: the same for every mode
        for (const char* phase : {"prefill", "decode"}) {
            Result<std::vector<LedgerOperator>> measured = measureKernels(phase);
            if (!measured) return measured.error();
            kernels[phase] = std::move(*measured);
        }
        std::optional<OperatorShares> prefill;  // eager in every mode
        std::vector<Ledger> ledgers;
        for (const LedgerMode& mode : modes) {
            if (!prefill) {
                Result<OperatorShares> shares = sharesOf("prefill", mode, mode.prefillMs);
                if (!shares) return shares.error();
                prefill = std::move(*shares);
            }
            Ledger ledger;
            ledger.mode = mode.graph ? "graph" : "eager";
            ledger.phases.push_back(phaseOf("prefill", mode.prefillMs, *prefill, kernels["prefill"]));
            if (m_task.newTokens > 1) {
                Result<OperatorShares> decode = sharesOf("decode", mode, mode.stepMs);
                if (!decode) return decode.error();
                ledger.phases.push_back(phaseOf("decode", mode.decodeMs, *decode, kernels["decode"]));
            }
            ledgers.push_back(std::move(ledger));
        }
        return ledgers;
    }

private:
    void note(const std::string& text) {
        if (!text.empty() && std::find(m_notes.begin(), m_notes.end(), text) == m_notes.end()) m_notes.push_back(text);
    }

    Result<std::vector<LedgerOperator>> measureKernels(const std::string& phase) {
        const std::unique_ptr<Meter> meter = makeMeter(m_task.setup.device);
        std::vector<LedgerOperator> measured;
        const ModelConfig& config = m_task.setup.config;
        const std::int64_t rows = m_task.shape.batch * (phase == "prefill" ? m_task.shape.promptTokens : 1);
        const OperatorShape shape{config.hiddenSize, rows, config.intermediateSize, config.heads, config.kvHeads, config.headDim};
        std::int64_t done = 0;
        for (const PatchChoice& choice : m_choices) {
            LedgerOperator entry;
            entry.op = choice.op;
            entry.variant = choice.variant;
            const Operator* op = m_task.patch.operators().find(choice.op);
            const Variant* variant = op ? op->find(choice.variant) : nullptr;
            if (meter && variant) {
                m_context.kernel = choice.text();
                m_context.progress({"Kernels alone, " + phase, done, static_cast<std::int64_t>(m_choices.size()), std::nullopt, choice.text()});
                const Result<KernelPair> pair = measureKernelPair(*meter, *op, *variant, shape, m_task.setup.dtype, config.rmsNormEps, m_task.setup.device,
                                                                  static_cast<std::uint64_t>(m_task.setup.seed), m_context.stop);
                m_context.kernel.clear();
                if (pair) {
                    entry.nativeCallUs = pair->nativeCallUs;
                    entry.variantCallUs = pair->variantCallUs;
                    entry.nativeDeviceUs = pair->nativeDeviceUs;
                    entry.variantDeviceUs = pair->variantDeviceUs;
                } else if (pair.error().code == ErrorCode::cancelled) {
                    return pair.error();
                } else {
                    note(fmt::format("{} in the {}: no time alone: {}", choice.text(), phase, pair.error().message));
                }
            }
            measured.push_back(std::move(entry));
            ++done;
        }
        return measured;
    }

    /// One pass as the mode runs it: its position, its way of decoding, its greedy choice.
    Pass passOf(const std::string& phase, const LedgerMode& mode) const {
        KvCache& cache = mode.generator->cache();
        const std::int64_t batch = m_task.shape.batch;
        Qwen2Model& model = m_model;
        if (phase == "prefill") {
            const at::Tensor tokens = m_task.prompt.unsqueeze(0).expand({batch, m_task.shape.promptTokens}).contiguous().to(model.device());
            return [&model, &cache, tokens] {
                cache.setLength(0);
                (void)model.forward(tokens, cache).argmax(-1);
            };
        }
        // The middle of the text: steps grow a little with what they attend to.
        const std::int64_t position = m_task.shape.promptTokens + (m_task.newTokens - 1) / 2;
        const at::Tensor token = m_task.prompt.select(0, 0).expand({batch, 1}).contiguous().to(model.device());
        if (mode.graph) {
            const at::Tensor place = at::full({1}, position, at::TensorOptions().dtype(at::kLong).device(model.device()));
            return [&model, &cache, token, place] { (void)model.forwardAt(token, cache, place).argmax(-1); };
        }
        return [&model, &cache, token, position] {
            cache.setLength(position);
            (void)model.forward(token, cache).argmax(-1);
        };
    }

    Result<OperatorShares> sharesOf(const std::string& phase, const LedgerMode& mode, double passMs) {
        m_context.progress({fmt::format("Shares of the {}", phase == "prefill" ? "prefill" : "decode step"), 0, 0, std::nullopt, {}});
        std::vector<std::string> ops;
        for (const PatchChoice& choice : m_choices) ops.push_back(choice.op);
        ShareOptions options;
        if (passMs > 0) options.iterations = std::clamp(static_cast<std::int64_t>(kPassBudgetMs / (2 * passMs)), kFewestPasses, kMostPasses);
        options.captured = mode.graph && phase == "decode";
        Result<OperatorShares> shares = measureOperatorShares(phase, passOf(phase, mode), ops, m_modules, m_model.hooks(), m_task.setup.device, options, m_context.stop);
        if (shares) {
            if (!shares->note.empty()) note(fmt::format("{}: {}", phase, shares->note));
            return shares;
        }
        if (shares.error().code == ErrorCode::cancelled) return shares.error();
        note(fmt::format("{}: no shares: {}", phase, shares.error().message));
        OperatorShares unknown;
        for (const std::string& op : ops) unknown.shares.push_back({op, 0, std::nullopt, std::nullopt});
        return unknown;
    }

    static LedgerPhase phaseOf(const std::string& phase, double nativeMs, const OperatorShares& shares, std::vector<LedgerOperator> operators) {
        for (std::size_t i = 0; i < operators.size(); ++i) {
            operators[i].calls = shares.shares[i].calls;
            operators[i].spanShare = shares.shares[i].span;
            operators[i].gpuShare = shares.shares[i].gpu;
        }
        return {phase, nativeMs, std::move(operators)};
    }

    const LedgerTask& m_task;
    Qwen2Model& m_model;
    JobContext& m_context;
    std::vector<std::string>& m_notes;
    std::vector<PatchChoice> m_choices;
    OperatorModules m_modules;
};

}  // namespace

Result<std::vector<Ledger>> measureLedgers(const LedgerTask& task, const std::vector<LedgerMode>& modes, Qwen2Model& model, JobContext& context,
                                           std::vector<std::string>& notes) {
    return LedgerMaker(task, model, context, notes).make(modes);
}

}  // namespace kernelscope
