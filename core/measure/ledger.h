#pragma once
// Why an end-to-end gain is what it is: each operator's share of the time and its kernel's speed-up predict a gain (Amdahl); the
// measured one stands beside it, and what is left over is named. Numbers only: nothing here runs a model.

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/records/statistics.h"

namespace kernelscope {

/// One replaced operator in one phase.
struct LedgerOperator {
    std::string op, variant;
    std::int64_t calls = 0;  ///< in a pass of the native model
    std::optional<double> spanShare, gpuShare;  ///< of the native pass, 0 to 1; unknown where it could not be measured
    std::optional<double> nativeCallUs, variantCallUs;      ///< an event pair around one call
    std::optional<double> nativeDeviceUs, variantDeviceUs;  ///< from a graph, buffers cold

    [[nodiscard]] std::optional<double> callSpeedup() const;
    [[nodiscard]] std::optional<double> deviceSpeedup() const;
};

struct LedgerPhase {
    std::string phase;    ///< prefill or decode
    double nativeMs = 0;  ///< of the native generate(): its weight
    std::vector<LedgerOperator> operators;
};

enum class LedgerClock {
    span,  ///< shares by span, speed-ups by call
    gpu,   ///< shares by GPU time, speed-ups by cold device time
};

struct Measured {
    double speedup = 1;
    Interval interval{1, 1};
};

struct Ledger {
    std::string mode;  ///< eager or graph
    std::vector<LedgerPhase> phases;
    std::optional<Measured> measured;

    /// Percent of the native time that replacing this operator takes away, its phase's weight included.
    [[nodiscard]] std::optional<double> contributionPct(const LedgerPhase& phase, const LedgerOperator& op, LedgerClock clock) const;
    /// 1 / (1 - sum of the contributions); unknown when one of them is, or when nothing would be left.
    [[nodiscard]] std::optional<double> predicted(LedgerClock clock) const;
    /// Percentage points that the measured gain removes beyond the predicted one.
    [[nodiscard]] std::optional<double> residualPoints(LedgerClock clock) const;
    /// The residual in a sentence: how large, and where it comes from.
    [[nodiscard]] std::string words(LedgerClock clock) const;

    /// Everything: phases, operators, predictions, residuals in words.
    [[nodiscard]] nlohmann::json toJson() const;
};

}  // namespace kernelscope
