#include "core/measure/operator_shares.h"

#include <algorithm>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "core/measure/gpu_columns.h"
#include "core/measure/graph_profile.h"
#include "core/records/statistics.h"

namespace kernelscope {
namespace {

// Single calls on each side of a pair, half of them before the other side's and half after.
constexpr std::int64_t kCalls = 200;
// Rounds of cold device time: the ledger needs a ratio to a percent, not a table's precision.
constexpr std::int64_t kLeastRounds = 20, kMostRounds = 60;

std::optional<double> fraction(const std::optional<double>& percent) { return percent ? std::optional(*percent / 100.0) : std::nullopt; }

std::vector<OperatorShare> sharesFrom(const std::vector<ProfileRow>& rows, const std::vector<std::string>& ops, bool withGpu) {
    std::vector<OperatorShare> shares;
    for (const std::string& op : ops) {
        const std::string name = OperatorModules::rowName(op);
        const auto row = std::find_if(rows.begin(), rows.end(), [&](const ProfileRow& each) { return each.name == name; });
        OperatorShare share{op, 0, 0.0, withGpu ? std::optional(0.0) : std::nullopt};
        if (row != rows.end()) {
            share.calls = row->calls.value_or(0);
            share.span = fraction(row->spanSharePct);
            share.gpu = fraction(row->gpuSharePct);
        }
        shares.push_back(std::move(share));
    }
    return shares;
}

Operands exampleOn(const Operator& op, const OperatorShape& shape, at::ScalarType dtype, double eps, const Device& device, std::uint64_t seed) {
    Operands example = op.example(shape, dtype, seed, Content::ordinary);
    example.eps = eps;
    for (at::Tensor& input : example.inputs) input = input.to(device.torch);
    return example;
}

}  // namespace

Result<OperatorShares> measureOperatorShares(const std::string& phase, const Pass& pass, const std::vector<std::string>& ops, const OperatorModules& operators,
                                             Hooks& hooks, const Device& device, const ShareOptions& options, std::stop_token stop) {
    SpanProfileOptions spanOptions;
    spanOptions.level = ProfileLevel::op;
    spanOptions.warmup = options.warmup;
    // Of a captured pass the spans are not asked for; the passes before it only warm up.
    spanOptions.iterations = options.captured ? 1 : options.iterations;
    const Result<SpanProfile> spans = measureSpans(phase, pass, operators.modules(), hooks, device, spanOptions, {}, stop);
    if (!spans) return spans.error();
    if (stop.stop_requested()) return makeError(ErrorCode::cancelled, "Cancelled");
    std::vector<ProfileRow> rows = spans->table.rows(false);
    if (!device.isCuda()) return OperatorShares{sharesFrom(rows, ops, false), {}};

    // The node owners' hook takes module numbers from all that runs under hooks, so it gets the operators' list as well.
    const Result<GraphProfile> graph = measureGraph(pass, operators.modules(), hooks, device, {}, {}, stop);
    if (!graph) {
        if (graph.error().code == ErrorCode::cancelled || options.captured) return graph.error();
        return OperatorShares{sharesFrom(rows, ops, false), "no GPU time: " + graph.error().message};
    }
    if (options.captured) rows = graphModeRows(phase, *graph, operators.modules(), ProfileLevel::op);
    else addGpuColumns(rows, *graph, operators.modules(), ProfileLevel::op);
    OperatorShares measured{sharesFrom(rows, ops, true), {}};
    for (const std::string& warning : graph->warnings) measured.note += (measured.note.empty() ? "" : "; ") + warning;
    // One pseudo-module stands for all calls of its operator, so a graph's rows cannot count them; the eager passes did.
    const std::vector<OperatorShare> counted = sharesFrom(spans->table.rows(false), ops, false);
    for (std::size_t i = 0; i < ops.size(); ++i) measured.shares[i].calls = counted[i].calls;
    return measured;
}

Result<KernelPair> measureKernelPair(Meter& meter, const Operator& op, const Variant& variant, const OperatorShape& shape, at::ScalarType dtype, double eps,
                                     const Device& device, std::uint64_t seed, std::stop_token stop) {
    const Variant* native = op.find("native");
    if (!native) return makeError(ErrorCode::environment, op.name() + " has no native variant to compare with");
    const Operands example = exampleOn(op, shape, dtype, eps, device, seed);

    std::vector<double> before, after;
    const auto append = [&](const Variant& which, std::vector<double>& samples) {
        const std::vector<double> more = meter.callUs(op, which, example, CacheMode::warm, kCalls / 2);
        samples.insert(samples.end(), more.begin(), more.end());
    };
    append(*native, before);
    append(variant, after);
    append(variant, after);
    append(*native, before);
    KernelPair pair;
    pair.nativeCallUs = median(before);
    pair.variantCallUs = median(after);
    if (stop.stop_requested()) return makeError(ErrorCode::cancelled, "Cancelled");
    if (!device.isCuda()) return pair;

    Result<std::unique_ptr<PreparedCalls>> one = meter.prepare(op, *native, example, CacheMode::cold);
    if (!one) return one.error();
    Result<std::unique_ptr<PreparedCalls>> two = meter.prepare(op, variant, example, CacheMode::cold);
    if (!two) return two.error();
    std::vector<Contender> contenders(2);
    contenders[0] = {native, one->get(), {}};
    contenders[1] = {&variant, two->get(), {}};
    RoundOptions options;
    options.leastRounds = kLeastRounds;
    options.mostRounds = kMostRounds;
    options.stop = stop;
    measureRounds(meter, contenders, options);
    if (stop.stop_requested()) return makeError(ErrorCode::cancelled, "Cancelled");
    pair.nativeDeviceUs = median(contenders[0].samplesUs);
    pair.variantDeviceUs = median(contenders[1].samplesUs);
    return pair;
}

}  // namespace kernelscope
