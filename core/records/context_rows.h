#pragma once
// A decode step against the length of its context and the batch.

#include "core/records/row.h"

namespace kernelscope {

struct ContextRow {
    std::int64_t batch = 1;
    std::int64_t contextTokens = 0;  ///< in the cache before the step
    std::string status;              ///< ok, skipped
    std::optional<double> decodeMsPerToken;  ///< median of the steps without hooks
    std::optional<double> decodeCiLowMs, decodeCiHighMs;
    std::optional<double> decodeTokensPerS;  ///< of all sequences of the batch together
    std::optional<double> gpuMsPerToken;     ///< of which the GPU works; CUDA only
    std::optional<std::int64_t> peakMemoryBytes;  ///< while the step ran: of the device, or of the engine on a CPU
    std::optional<std::int64_t> cacheBytes;       ///< of which keys and values
    std::string reason;

    bool operator==(const ContextRow&) const = default;
};

template <>
struct RowSchema<ContextRow> {
    static constexpr std::string_view kName = "context";
    static constexpr auto kFields = std::tuple{
        field("batch", &ContextRow::batch),
        field("context_tokens", &ContextRow::contextTokens),
        field("status", &ContextRow::status),
        field("decode_ms_per_token", &ContextRow::decodeMsPerToken),
        field("decode_ci_low_ms", &ContextRow::decodeCiLowMs),
        field("decode_ci_high_ms", &ContextRow::decodeCiHighMs),
        field("decode_tokens_per_s", &ContextRow::decodeTokensPerS),
        field("gpu_ms_per_token", &ContextRow::gpuMsPerToken),
        field("peak_memory_bytes", &ContextRow::peakMemoryBytes),
        field("cache_bytes", &ContextRow::cacheBytes),
        field("reason", &ContextRow::reason),
    };
};

/// The share of one module type in one of these steps.
struct ContextShareRow {
    std::int64_t batch = 1;
    std::int64_t contextTokens = 0;
    std::string type;
    std::optional<double> spanSharePct, gpuSharePct;

    bool operator==(const ContextShareRow&) const = default;
};

template <>
struct RowSchema<ContextShareRow> {
    static constexpr std::string_view kName = "context_share";
    static constexpr auto kFields = std::tuple{
        field("batch", &ContextShareRow::batch),
        field("context_tokens", &ContextShareRow::contextTokens),
        field("type", &ContextShareRow::type),
        field("span_share_pct", &ContextShareRow::spanSharePct),
        field("gpu_share_pct", &ContextShareRow::gpuSharePct),
    };
};

}  // namespace kernelscope
