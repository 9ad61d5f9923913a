#include "core/measure/ledger.h"

#include <cmath>

#include <fmt/format.h>

namespace kernelscope {
namespace {

std::optional<double> ratio(const std::optional<double>& native, const std::optional<double>& variant) {
    if (!native || !variant || !(*native > 0) || !(*variant > 0)) return std::nullopt;
    return *native / *variant;
}

double removedPct(double speedup) { return 100.0 * (1.0 - 1.0 / speedup); }

nlohmann::json orNull(const std::optional<double>& value) { return value && std::isfinite(*value) ? nlohmann::json(*value) : nlohmann::json(nullptr); }
std::optional<double> percent(const std::optional<double>& share) { return share ? std::optional(100.0 * *share) : std::nullopt; }

const char* cause(LedgerClock clock, bool graphMode, bool more) {
    if (clock == LedgerClock::gpu && !graphMode) {
        return more ? "launch gaps removed: a replaced operator is fewer launches, and in eager mode the GPU waits for the host"
                    : "the host's own time, which faster kernels leave as it is: the GPU waits for launches";
    }
    if (clock == LedgerClock::span && !graphMode) {
        return more ? "other work: what follows a replaced operator starts earlier than its own span shows"
                    : "other work: a call timed alone waits for itself, while in a pass the host runs ahead and part of the saving was hidden";
    }
    return more ? "launch gaps removed: fewer nodes, and programmatic launch lets a kernel start beside its neighbours"
                : "other work: in the model the operators' inputs are in the cache, so that the native kernels lose less than they do alone";
}

}  // namespace

std::optional<double> LedgerOperator::callSpeedup() const { return ratio(nativeCallUs, variantCallUs); }
std::optional<double> LedgerOperator::deviceSpeedup() const { return ratio(nativeDeviceUs, variantDeviceUs); }

std::optional<double> Ledger::contributionPct(const LedgerPhase& phase, const LedgerOperator& op, LedgerClock clock) const {
    double total = 0;
    for (const LedgerPhase& each : phases) total += each.nativeMs;
    const std::optional<double>& share = clock == LedgerClock::span ? op.spanShare : op.gpuShare;
    if (!share || !(total > 0)) return std::nullopt;
    if (*share == 0) return 0.0;
    const std::optional<double> speedup = clock == LedgerClock::span ? op.callSpeedup() : op.deviceSpeedup();
    if (!speedup) return std::nullopt;
    return phase.nativeMs / total * *share * removedPct(*speedup);
}

std::optional<double> Ledger::predicted(LedgerClock clock) const {
    double removed = 0;
    bool any = false;
    for (const LedgerPhase& phase : phases) {
        for (const LedgerOperator& op : phase.operators) {
            const std::optional<double> part = contributionPct(phase, op, clock);
            if (!part) return std::nullopt;
            removed += *part;
            any = true;
        }
    }
    if (!any || removed >= 100.0) return std::nullopt;
    return 1.0 / (1.0 - removed / 100.0);
}

std::optional<double> Ledger::residualPoints(LedgerClock clock) const {
    const std::optional<double> expected = predicted(clock);
    if (!expected || !measured) return std::nullopt;
    return removedPct(measured->speedup) - removedPct(*expected);
}

std::string Ledger::words(LedgerClock clock) const {
    const std::optional<double> expected = predicted(clock);
    const char* by = clock == LedgerClock::span ? "spans" : "GPU time";
    if (!measured) return "Nothing has been measured yet.";
    if (!expected) return fmt::format("No prediction by {}: a share or a kernel time is missing.", by);
    const double residual = *residualPoints(clock);
    const std::string figures = fmt::format("Measured {:.1f} % removed, predicted by {} {:.1f} %", removedPct(measured->speedup), by, removedPct(*expected));
    if (measured->interval.contains(*expected)) return fmt::format("{}: they agree within the interval of the measurement.", figures);
    return fmt::format("{}: {:.1f} points {}. Likely {}.", figures, std::abs(residual), residual > 0 ? "more" : "less", cause(clock, mode == "graph", residual > 0));
}

nlohmann::json Ledger::toJson() const {
    nlohmann::json json{{"mode", mode}, {"phases", nlohmann::json::array()}};
    double total = 0;
    for (const LedgerPhase& phase : phases) total += phase.nativeMs;
    for (const LedgerPhase& phase : phases) {
        nlohmann::json operators = nlohmann::json::array();
        for (const LedgerOperator& op : phase.operators) {
            operators.push_back({{"op", op.op},
                                 {"variant", op.variant},
                                 {"calls", op.calls},
                                 {"span_share_pct", orNull(percent(op.spanShare))},
                                 {"gpu_share_pct", orNull(percent(op.gpuShare))},
                                 {"native_call_us", orNull(op.nativeCallUs)},
                                 {"call_us", orNull(op.variantCallUs)},
                                 {"call_speedup", orNull(op.callSpeedup())},
                                 {"native_device_us", orNull(op.nativeDeviceUs)},
                                 {"device_us", orNull(op.variantDeviceUs)},
                                 {"device_speedup", orNull(op.deviceSpeedup())},
                                 {"contribution_by_span_pct", orNull(contributionPct(phase, op, LedgerClock::span))},
                                 {"contribution_by_gpu_pct", orNull(contributionPct(phase, op, LedgerClock::gpu))}});
        }
        json["phases"].push_back({{"phase", phase.phase},
                                  {"native_ms", phase.nativeMs},
                                  {"weight_pct", total > 0 ? nlohmann::json(100.0 * phase.nativeMs / total) : nlohmann::json(nullptr)},
                                  {"operators", std::move(operators)}});
    }
    json["measured_speedup"] = measured ? nlohmann::json(measured->speedup) : nlohmann::json(nullptr);
    json["measured_removed_pct"] = measured ? nlohmann::json(removedPct(measured->speedup)) : nlohmann::json(nullptr);
    for (const LedgerClock clock : {LedgerClock::span, LedgerClock::gpu}) {
        const std::string by = clock == LedgerClock::span ? "span" : "gpu";
        const std::optional<double> expected = predicted(clock);
        json["predicted_by_" + by] = orNull(expected);
        json["predicted_removed_by_" + by + "_pct"] = expected ? nlohmann::json(removedPct(*expected)) : nlohmann::json(nullptr);
        json["residual_by_" + by + "_points"] = orNull(residualPoints(clock));
        json["words_by_" + by] = words(clock);
    }
    return json;
}

}  // namespace kernelscope
