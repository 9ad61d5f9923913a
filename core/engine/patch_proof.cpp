#include "core/engine/patch_proof.h"

#include <array>
#include <set>

#include <fmt/format.h>

#include "core/measure/validation.h"
#include "core/records/kernel_fault.h"
#include "core/records/progress_clock.h"

namespace kernelscope {
namespace {

// What a model's call does: ordinary numbers at its shape, and rounding where the native sequence rounds. How a kernel takes odd
// strides or infinities is for validate to say.
constexpr std::array<std::string_view, 2> kCases{"basic", "rounding_order"};

}  // namespace

Result<std::vector<PatchVerdict>> validatePatch(const JobPatch& patch, const ModelSetup& setup, const std::vector<std::int64_t>& rows, JobContext& context) {
    const ModelConfig& config = setup.config;
    const std::set<std::int64_t> rowCounts(rows.begin(), rows.end());
    const std::int64_t total = static_cast<std::int64_t>(patch.choices().size() * rowCounts.size() * kCases.size());
    std::int64_t done = 0;
    std::vector<PatchVerdict> verdicts;
    for (const PatchChoice& choice : patch.choices()) {
        PatchVerdict verdict{choice, "ok", {}};
        const Operator* op = patch.operators().find(choice.op);
        const Variant* variant = op ? op->find(choice.variant) : nullptr;
        for (const std::int64_t count : rowCounts) {
            if (!variant || choice.variant == "native") break;
            const OperatorShape shape{config.hiddenSize, count, config.intermediateSize, config.heads, config.kvHeads, config.headDim};
            context.kernel = choice.text();
            ProgressClock beat;
            const auto announce = [&] { context.progress({kProvingPatch, done, total, std::nullopt, choice.text()}); };
            Validator validator(*op, shape, setup.dtype, setup.device, static_cast<std::uint64_t>(setup.seed), [&] { if (beat.due()) announce(); });
            for (const std::string_view name : kCases) {
                if (context.stop.stop_requested()) return makeError(ErrorCode::cancelled, "Cancelled");
                announce();
                const Result<CaseOutcome> outcome = validator.run(*variant, name);
                if (!outcome) return outcome.error();  // of a device that has faulted the server makes a sentence
                ++done;
                if (outcome->status == "skipped") continue;
                const std::string worse = worseStatus(verdict.status, outcome->status);
                if (worse != verdict.status) verdict.reason = outcome->reason;
                verdict.status = worse;
            }
        }
        verdicts.push_back(std::move(verdict));
    }
    context.kernel.clear();
    return verdicts;
}

Result<std::vector<PatchChoice>> rightChoices(const std::vector<PatchVerdict>& verdicts, bool named, std::vector<std::string>& notes) {
    std::vector<PatchChoice> kept;
    for (const PatchVerdict& verdict : verdicts) {
        const std::string how = verdict.status == "other_order" ? "right in another rounding order" : verdict.status;
        const std::string words = fmt::format("{} is {} at this model's shapes{}{}", verdict.choice.text(), how, verdict.reason.empty() ? "" : ": ", verdict.reason);
        const bool stays = verdict.status == "ok" || (named && verdict.status == "other_order");
        if (!stays && named) {
            return makeError(verdict.status == "refused" ? ErrorCode::usage : ErrorCode::wrong, words, "Leave it out of the patch or choose another variant; validate says more.");
        }
        if (stays) kept.push_back(verdict.choice);
        if (verdict.status != "ok") notes.push_back(words);
    }
    if (kept.empty()) return makeError(ErrorCode::wrong, "No replacement is right at this model's shapes", "validate says more.");
    return kept;
}

}  // namespace kernelscope
