#include "core/measure/timing.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <ATen/ATen.h>

namespace kernelscope {
namespace {

// The stop rule is looked at this often: it needs a few new samples to say anything new.
constexpr std::int64_t kRoundsBetweenLooks = 5;

// One disturbed turn in four leaves a median where it was.
constexpr std::int64_t kCallTurns = 4;
// Whose calls have taken this long is known well enough: hundreds of slow calls would help nobody.
constexpr double kEnoughCallsUs = 1e6;

bool known(const Contender& contender, double relativeWidth) {
    const Interval interval = medianByRanks(contender.samplesUs);
    const double middle = median(contender.samplesUs);
    return interval.high - interval.low <= relativeWidth * middle;
}

}  // namespace

std::string_view toString(CacheMode mode) {
    switch (mode) {
        case CacheMode::cold: return "cold";
        case CacheMode::warm: return "warm";
        case CacheMode::chain: return "chain";
    }
    return "cold";
}

std::optional<CacheMode> cacheModeFromString(std::string_view text) {
    for (const CacheMode mode : {CacheMode::cold, CacheMode::warm, CacheMode::chain}) {
        if (toString(mode) == text) return mode;
    }
    return std::nullopt;
}

std::unique_ptr<Meter> makeMeter(const Device& device) { return device.isCuda() ? makeCudaMeter(device) : makeCpuMeter(); }

Interval medianByRanks(std::vector<double> samples) {
    if (samples.empty()) return {std::nan(""), std::nan("")};
    std::sort(samples.begin(), samples.end());
    // A median's rank is binomial: n / 2 +- 1.96 sqrt(n) / 2.
    const auto n = static_cast<double>(samples.size());
    const double reach = 0.98 * std::sqrt(n);
    const auto last = static_cast<double>(samples.size() - 1);
    const auto low = static_cast<std::size_t>(std::clamp(std::floor(n / 2 - reach), 0.0, last));
    const auto high = static_cast<std::size_t>(std::clamp(std::ceil(n / 2 + reach) - 1, 0.0, last));
    return {samples[low], samples[high]};
}

void measureRounds(Meter& meter, std::vector<Contender>& contenders, const RoundOptions& options) {
    for (Contender& contender : contenders) {
        (void)contender.calls->sampleUs();  // the first finds nothing in place
        meter.sign();
    }
    for (std::int64_t round = 0; round < options.mostRounds; ++round) {
        const bool backwards = round % 2 == 1;
        meter.beginRound();
        for (std::size_t i = 0; i < contenders.size(); ++i) {
            Contender& contender = contenders[backwards ? contenders.size() - 1 - i : i];
            contender.samplesUs.push_back(contender.calls->sampleUs());
            meter.sign();
        }
        if (options.afterRound) options.afterRound(round);
        if (round >= 1 && (options.stop.stop_requested() || (options.outOfTime && options.outOfTime()))) return;
        if (round + 1 < options.leastRounds || (round + 1) % kRoundsBetweenLooks != 0) continue;
        if (std::all_of(contenders.begin(), contenders.end(), [&](const Contender& each) { return known(each, options.relativeWidth); })) return;
    }
}

std::vector<std::vector<double>> measureCalls(Meter& meter, const Operator& op, const std::vector<Contender>& contenders, const Operands& example, CacheMode mode,
                                              std::int64_t count, const std::function<void(const Variant&)>& turnOf) {
    std::vector<std::vector<double>> samplesUs(contenders.size());
    for (std::int64_t turn = 0; turn < kCallTurns; ++turn) {
        const std::int64_t calls = count * (turn + 1) / kCallTurns - count * turn / kCallTurns;
        for (std::size_t i = 0; i < contenders.size(); ++i) {
            const std::size_t at = turn % 2 == 1 ? contenders.size() - 1 - i : i;
            if (calls == 0 || std::accumulate(samplesUs[at].begin(), samplesUs[at].end(), 0.0) >= kEnoughCallsUs) continue;
            const Variant& variant = *contenders[at].variant;
            turnOf(variant);
            const std::vector<double> more = meter.callUs(op, variant, example, mode, calls);
            samplesUs[at].insert(samplesUs[at].end(), more.begin(), more.end());
        }
    }
    return samplesUs;
}

Operands ownBuffers(const Operator& op, const Variant& variant, const Operands& example) {
    Operands own;
    own.eps = example.eps;
    for (const at::Tensor& input : example.inputs) own.inputs.push_back(input.clone());
    if (variant.ownOutputs) return own;
    for (std::size_t i = 0; i < op.outputs().size(); ++i) {
        own.outputs.push_back(op.inPlace() ? own.inputs[i].clone() : at::empty_like(own.inputs[i]));
    }
    return own;
}

}  // namespace kernelscope
