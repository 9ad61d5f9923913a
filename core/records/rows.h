#pragma once
// Every row type there is. Column names, order and meaning are the command line contract (README.md, "Files").

#include "core/records/row.h"

namespace kernelscope {

/// One module type, block, leaf or kernel of a profiled pass. Times are medians per pass.
struct ProfileRow {
    std::string phase;  ///< decode or prefill
    std::string level;  ///< type, block, leaf or kernel
    std::string name;
    std::string type;   ///< the module type that this row's time counts to
    std::optional<std::int64_t> calls;    ///< per pass
    std::optional<std::int64_t> kernels;  ///< per pass; CUDA only
    std::optional<double> spanUs;      ///< inclusive, from the borders' timing events in an eager pass
    std::optional<double> selfSpanUs;  ///< span less that of the modules inside
    std::optional<double> gpuUs;       ///< inclusive back-to-back GPU time in the captured pass
    std::optional<double> selfGpuUs;
    std::optional<double> kernelUs;    ///< of gpuUs, the kernels alone
    std::optional<double> gapUs;       ///< span - gpu
    std::optional<double> spanSharePct;  ///< 100 * sum of self spans / sum of totals, over all passes
    std::optional<double> gpuSharePct;
    std::optional<double> spanShareCiLowPct, spanShareCiHighPct;  ///< 95 %, bootstrap over passes
    std::optional<double> gpuShareCiLowPct, gpuShareCiHighPct;
    std::string note;

    bool operator==(const ProfileRow&) const = default;
};

template <>
struct RowSchema<ProfileRow> {
    static constexpr std::string_view kName = "profile";
    static constexpr auto kFields = std::tuple{
        field("phase", &ProfileRow::phase),
        field("level", &ProfileRow::level),
        field("name", &ProfileRow::name),
        field("type", &ProfileRow::type),
        field("calls", &ProfileRow::calls),
        field("kernels", &ProfileRow::kernels),
        field("span_us", &ProfileRow::spanUs),
        field("self_span_us", &ProfileRow::selfSpanUs),
        field("gpu_us", &ProfileRow::gpuUs),
        field("self_gpu_us", &ProfileRow::selfGpuUs),
        field("kernel_us", &ProfileRow::kernelUs),
        field("gap_us", &ProfileRow::gapUs),
        field("span_share_pct", &ProfileRow::spanSharePct),
        field("gpu_share_pct", &ProfileRow::gpuSharePct),
        field("span_share_ci_low_pct", &ProfileRow::spanShareCiLowPct),
        field("span_share_ci_high_pct", &ProfileRow::spanShareCiHighPct),
        field("gpu_share_ci_low_pct", &ProfileRow::gpuShareCiLowPct),
        field("gpu_share_ci_high_pct", &ProfileRow::gpuShareCiHighPct),
        field("note", &ProfileRow::note),
    };
};

/// One generated token, as it appears.
struct TokenRow {
    std::int64_t position = 0;  ///< 0 is the first generated token
    std::int64_t tokenId = 0;
    std::string text;           ///< what became readable with this token; may be empty
    double elapsedMs = 0;       ///< since the request started

    bool operator==(const TokenRow&) const = default;
};

template <>
struct RowSchema<TokenRow> {
    static constexpr std::string_view kName = "generate";
    static constexpr auto kFields = std::tuple{
        field("position", &TokenRow::position),
        field("token_id", &TokenRow::tokenId),
        field("text", &TokenRow::text),
        field("elapsed_ms", &TokenRow::elapsedMs),
    };
};

/// One raw measurement behind a row: `rowKey` names the row, `metric` its column.
struct SampleRow {
    std::string rowKey;
    std::string metric;
    std::int64_t pass = 0;
    double value = 0;

    bool operator==(const SampleRow&) const = default;
};

template <>
struct RowSchema<SampleRow> {
    static constexpr std::string_view kName = "sample";
    static constexpr auto kFields = std::tuple{
        field("row_key", &SampleRow::rowKey),
        field("metric", &SampleRow::metric),
        field("pass", &SampleRow::pass),
        field("value", &SampleRow::value),
    };
};

/// One module of one profiled pass, whatever the level: what the layer heat map draws. Medians over passes.
struct ProfileModuleRow {
    std::string phase;
    std::string path;
    std::string type;
    std::optional<std::int64_t> layer;  ///< decoder layer; unknown outside
    std::optional<double> selfSpanUs;
    std::optional<double> selfGpuUs;

    bool operator==(const ProfileModuleRow&) const = default;
};

template <>
struct RowSchema<ProfileModuleRow> {
    static constexpr std::string_view kName = "profile_module";
    static constexpr auto kFields = std::tuple{
        field("phase", &ProfileModuleRow::phase),
        field("path", &ProfileModuleRow::path),
        field("type", &ProfileModuleRow::type),
        field("layer", &ProfileModuleRow::layer),
        field("self_span_us", &ProfileModuleRow::selfSpanUs),
        field("self_gpu_us", &ProfileModuleRow::selfGpuUs),
    };
};

/// One bar of the timeline of one pass. Track "cpu": when the host enqueued the module. Track "span": when the device's
/// queue passed its borders, in the same eager pass. Track "kernel": a kernel of the captured pass, back to back.
struct ProfileEventRow {
    std::string phase;
    std::string track;
    std::string name;   ///< module path, or the kernel's demangled name
    std::string type;
    std::string path;   ///< the module
    std::int64_t depth = 0;
    double beginUs = 0;  ///< since the pass began
    double durationUs = 0;

    bool operator==(const ProfileEventRow&) const = default;
};

template <>
struct RowSchema<ProfileEventRow> {
    static constexpr std::string_view kName = "profile_event";
    static constexpr auto kFields = std::tuple{
        field("phase", &ProfileEventRow::phase),
        field("track", &ProfileEventRow::track),
        field("name", &ProfileEventRow::name),
        field("type", &ProfileEventRow::type),
        field("path", &ProfileEventRow::path),
        field("depth", &ProfileEventRow::depth),
        field("begin_us", &ProfileEventRow::beginUs),
        field("duration_us", &ProfileEventRow::durationUs),
    };
};

/// GPU time without a profiling library beside the driver's own trace (CUPTI), by module type.
struct CrossCheckRow {
    std::string phase;
    std::string name;  ///< a module type, unattributed, or total
    std::int64_t kernels = 0;
    std::int64_t namesDiffer = 0;  ///< kernels whose name is not the trace's
    double traceUs = 0;            ///< sum of the trace's durations a pass, mean over passes
    double kernelUs = 0;           ///< ours, of which kernels
    double gpuUs = 0;              ///< ours, back to back
    std::optional<double> errorPct;  ///< 100 x (kernelUs / traceUs - 1)
    double traceSharePct = 0, kernelSharePct = 0, shareErrorPoints = 0;

    bool operator==(const CrossCheckRow&) const = default;
};

template <>
struct RowSchema<CrossCheckRow> {
    static constexpr std::string_view kName = "profile_cross_check";
    static constexpr auto kFields = std::tuple{
        field("phase", &CrossCheckRow::phase),
        field("name", &CrossCheckRow::name),
        field("kernels", &CrossCheckRow::kernels),
        field("names_differ", &CrossCheckRow::namesDiffer),
        field("trace_us", &CrossCheckRow::traceUs),
        field("kernel_us", &CrossCheckRow::kernelUs),
        field("gpu_us", &CrossCheckRow::gpuUs),
        field("error_pct", &CrossCheckRow::errorPct),
        field("trace_share_pct", &CrossCheckRow::traceSharePct),
        field("kernel_share_pct", &CrossCheckRow::kernelSharePct),
        field("share_error_points", &CrossCheckRow::shareErrorPoints),
    };
};

/// All row types, in the order in which they came to be.
std::span<const RowType> rowTypes();

/// By name, or nullptr.
const RowType* findRowType(std::string_view name);

}  // namespace kernelscope
