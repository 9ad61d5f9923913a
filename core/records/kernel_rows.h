#pragma once
// Rows of the jobs that judge and time kernels, alone and in the model.

#include "core/records/row.h"

namespace kernelscope {

/// Is one variant right, at one shape, type and case. Errors are against float64.
struct ValidateRow {
    std::string op, variant, dtype;
    std::int64_t hidden = 0;
    std::int64_t rows = 0;
    std::string caseName;
    std::string status;  ///< ok, other_order, refused, wrong, crashed, hung, skipped
    std::optional<double> maxAbsErr, maxUlp, meanSignedErr;
    std::optional<double> nativeMaxAbsErr, nativeMaxUlp;  ///< the native sequence's own errors against float64
    std::optional<double> errRatio;  ///< maxAbsErr / nativeMaxAbsErr; unknown where native is exact
    std::string worstIndex;          ///< row:column
    std::string reason;

    bool operator==(const ValidateRow&) const = default;
};

template <>
struct RowSchema<ValidateRow> {
    static constexpr std::string_view kName = "validate";
    static constexpr auto kFields = std::tuple{
        field("op", &ValidateRow::op),
        field("variant", &ValidateRow::variant),
        field("dtype", &ValidateRow::dtype),
        field("hidden", &ValidateRow::hidden),
        field("rows", &ValidateRow::rows),
        field("case", &ValidateRow::caseName),
        field("status", &ValidateRow::status),
        field("max_abs_err", &ValidateRow::maxAbsErr),
        field("max_ulp", &ValidateRow::maxUlp),
        field("mean_signed_err", &ValidateRow::meanSignedErr),
        field("native_max_abs_err", &ValidateRow::nativeMaxAbsErr),
        field("native_max_ulp", &ValidateRow::nativeMaxUlp),
        field("err_ratio", &ValidateRow::errRatio),
        field("worst_index", &ValidateRow::worstIndex),
        field("reason", &ValidateRow::reason),
    };
};

/// How fast one variant is, at one shape, type and state of the cache.
struct SweepRow {
    std::string op, variant, dtype;
    std::int64_t hidden = 0;
    std::int64_t rows = 0;
    std::string cache;   ///< cold, warm or chain
    std::string status;  ///< those of validate, noisy, throttled
    std::optional<double> deviceUs;  ///< median time of one call on the device, launches replayed from a graph
    std::optional<double> deviceCiLowUs, deviceCiHighUs;
    std::optional<double> callUs;    ///< median of single calls as a caller makes them; hot on CUDA, on a CPU in the cache state of the row
    std::optional<double> gbPerS;
    std::optional<double> limitPct;  ///< 100 * max(bytes / copy bandwidth, launch floor) / deviceUs
    std::optional<double> speedup;   ///< baseline's deviceUs / this row's
    std::optional<double> speedupCiLow, speedupCiHigh;
    std::optional<double> callSpeedup;
    std::string verdict;  ///< faster, slower, same, cant_tell
    std::string reason;
    std::string device;   ///< "cpu", "cuda:1": where it was measured; empty in runs from before there was the column

    bool operator==(const SweepRow&) const = default;
};

template <>
struct RowSchema<SweepRow> {
    static constexpr std::string_view kName = "sweep";
    static constexpr auto kFields = std::tuple{
        field("op", &SweepRow::op),
        field("variant", &SweepRow::variant),
        field("dtype", &SweepRow::dtype),
        field("hidden", &SweepRow::hidden),
        field("rows", &SweepRow::rows),
        field("cache", &SweepRow::cache),
        field("status", &SweepRow::status),
        field("device_us", &SweepRow::deviceUs),
        field("device_ci_low_us", &SweepRow::deviceCiLowUs),
        field("device_ci_high_us", &SweepRow::deviceCiHighUs),
        field("call_us", &SweepRow::callUs),
        field("gb_per_s", &SweepRow::gbPerS),
        field("limit_pct", &SweepRow::limitPct),
        field("speedup", &SweepRow::speedup),
        field("speedup_ci_low", &SweepRow::speedupCiLow),
        field("speedup_ci_high", &SweepRow::speedupCiHigh),
        field("call_speedup", &SweepRow::callSpeedup),
        field("verdict", &SweepRow::verdict),
        field("reason", &SweepRow::reason),
        field("device", &SweepRow::device),
    };
};

/// One configuration of a kernel at one shape of the dispatch tables, as the tuner measured it.
struct TuneRow {
    std::string op, dtype;
    std::int64_t hidden = 0;  ///< what the table is indexed by: the MLP width for silu_mul
    std::int64_t rows = 0;
    std::string launch;       ///< programmatic or plain
    std::string config;       ///< its name; general: the rule for shapes outside the tables
    std::string trigger;      ///< top, wait, loads, end
    std::string prefetch;     ///< weight, wave, half (of that), all, table
    std::int64_t blocksPerSm = 0;  ///< most blocks on a multiprocessor; 0: no limit
    std::optional<double> coldUs, warmUs, chainUs;  ///< one call; warm and chain where the data fits L2
    std::string status;       ///< kept (the table's choice, still the quickest), chosen (the new one), replaced (the old one), tried, skipped
    std::string reason;

    bool operator==(const TuneRow&) const = default;
};

template <>
struct RowSchema<TuneRow> {
    static constexpr std::string_view kName = "tune";
    static constexpr auto kFields = std::tuple{
        field("op", &TuneRow::op),
        field("dtype", &TuneRow::dtype),
        field("hidden", &TuneRow::hidden),
        field("rows", &TuneRow::rows),
        field("launch", &TuneRow::launch),
        field("config", &TuneRow::config),
        field("trigger", &TuneRow::trigger),
        field("prefetch", &TuneRow::prefetch),
        field("blocks_per_sm", &TuneRow::blocksPerSm),
        field("cold_us", &TuneRow::coldUs),
        field("warm_us", &TuneRow::warmUs),
        field("chain_us", &TuneRow::chainUs),
        field("status", &TuneRow::status),
        field("reason", &TuneRow::reason),
    };
};

/// generate() as a whole, with or without the patch.
struct EndToEndRow {
    std::string configuration;  ///< native or patched
    std::string mode;           ///< eager or graph
    std::string status;
    std::optional<double> ttftMs, prefillTokensPerS;
    std::optional<double> decodeMsPerToken, decodeP90Ms, decodeP99Ms, decodeTokensPerS;
    std::optional<double> totalMs;
    std::optional<double> outsideForwardMs;  ///< all that is not the model's forward pass
    std::optional<double> speedup, speedupCiLow, speedupCiHigh;  ///< native over patched of the same mode, by totalMs
    std::optional<double> removedPct;        ///< 100 * (1 - 1 / speedup)
    std::optional<double> predictedBySpan, predictedByGpu;
    std::optional<bool> tokensMatch;
    std::optional<std::int64_t> firstDivergence;
    std::optional<double> logitGap;
    std::optional<double> eagerSpeedup, eagerSpeedupCiLow, eagerSpeedupCiHigh;  ///< against native eager
    std::string verdict;
    std::string reason;

    bool operator==(const EndToEndRow&) const = default;
};

template <>
struct RowSchema<EndToEndRow> {
    static constexpr std::string_view kName = "e2e";
    static constexpr auto kFields = std::tuple{
        field("configuration", &EndToEndRow::configuration),
        field("mode", &EndToEndRow::mode),
        field("status", &EndToEndRow::status),
        field("ttft_ms", &EndToEndRow::ttftMs),
        field("prefill_tokens_per_s", &EndToEndRow::prefillTokensPerS),
        field("decode_ms_per_token", &EndToEndRow::decodeMsPerToken),
        field("decode_p90_ms", &EndToEndRow::decodeP90Ms),
        field("decode_p99_ms", &EndToEndRow::decodeP99Ms),
        field("decode_tokens_per_s", &EndToEndRow::decodeTokensPerS),
        field("total_ms", &EndToEndRow::totalMs),
        field("outside_forward_ms", &EndToEndRow::outsideForwardMs),
        field("speedup", &EndToEndRow::speedup),
        field("speedup_ci_low", &EndToEndRow::speedupCiLow),
        field("speedup_ci_high", &EndToEndRow::speedupCiHigh),
        field("removed_pct", &EndToEndRow::removedPct),
        field("predicted_by_span", &EndToEndRow::predictedBySpan),
        field("predicted_by_gpu", &EndToEndRow::predictedByGpu),
        field("tokens_match", &EndToEndRow::tokensMatch),
        field("first_divergence", &EndToEndRow::firstDivergence),
        field("logit_gap", &EndToEndRow::logitGap),
        field("eager_speedup", &EndToEndRow::eagerSpeedup),
        field("eager_speedup_ci_low", &EndToEndRow::eagerSpeedupCiLow),
        field("eager_speedup_ci_high", &EndToEndRow::eagerSpeedupCiHigh),
        field("verdict", &EndToEndRow::verdict),
        field("reason", &EndToEndRow::reason),
    };
};

}  // namespace kernelscope
