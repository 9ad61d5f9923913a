#include "core/measure/tune.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "kernels/tune/search.h"

namespace kernelscope {
namespace {

constexpr std::array<const char*, 4> kOperators{"rms_norm", "add_rms_norm", "silu_mul", "rope"};
constexpr std::array<const char*, 4> kTriggers{"top", "wait", "loads", "end"};
constexpr std::array<const char*, 5> kPrefetches{"weight", "wave", "all", "table", "half"};
constexpr std::int64_t kFlushBytes = std::int64_t{1} << 30;  // what empties L2, and room for the context to grow

int indexOf(const std::string& op) {
    return static_cast<int>(std::find(kOperators.begin(), kOperators.end(), op) - kOperators.begin());
}

TuneRow rowOf(const TuneCell& cell) {
    TuneRow row;
    row.op = cell.op;
    row.dtype = cell.dtype;
    row.hidden = cell.hidden;
    row.rows = cell.rows;
    row.launch = cell.plain ? "plain" : "programmatic";
    return row;
}

TuneRow rowOf(const TuneCell& cell, const tune::Measured& measured) {
    const ks_launch_options& options = measured.options;
    TuneRow row = rowOf(cell);
    row.config = options.config < 0 ? "general" : ks_config_name(indexOf(cell.op), options.config);
    if (options.config >= 0) {
        row.trigger = kTriggers.at(static_cast<std::size_t>(options.trigger));
        row.prefetch = kPrefetches.at(static_cast<std::size_t>(options.prefetch));
        row.blocksPerSm = options.blocks_per_sm;
    }
    const auto known = [](double us) { return us > 0 ? std::optional(us) : std::nullopt; };
    row.coldUs = known(measured.coldUs);
    row.warmUs = known(measured.warmUs);
    row.chainUs = known(measured.chainUs);
    return row;
}

}  // namespace

std::vector<TuneCell> tuneCells(const std::string& op, const std::string& dtype) {
    std::vector<TuneCell> cells;
    for (const tune::Shape& shape : tune::tableShapes(indexOf(op), KS_BFLOAT16)) {
        for (const bool plain : {false, true}) cells.push_back({op, dtype, tune::keyOf(shape), shape.rows, plain});
    }
    return cells;
}

Result<std::vector<TuneRow>> tuneCell(const TuneCell& cell, bool check, const Device& device, std::stop_token stop) try {
    const std::vector<tune::Shape> shapes = tune::tableShapes(indexOf(cell.op), cell.dtype == "float16" ? KS_FLOAT16 : KS_BFLOAT16);
    const auto shape = std::find_if(shapes.begin(), shapes.end(), [&](const tune::Shape& s) { return tune::keyOf(s) == cell.hidden && s.rows == cell.rows; });
    if (shape == shapes.end()) return std::vector<TuneRow>();

    const Result<std::int64_t> free = freeBytes(device);
    if (!free) return free.error();
    const auto needed = static_cast<std::int64_t>(shape->movedBytes() * tune::planFor(*shape).sets) + kFlushBytes;
    if (needed > *free) {
        TuneRow row = rowOf(cell);
        row.status = "skipped";
        row.reason = fmt::format("{:.1f} GiB needed, {:.1f} GiB free", static_cast<double>(needed) / (1 << 30), static_cast<double>(*free) / (1 << 30));
        return std::vector<TuneRow>{row};
    }

    const tune::Stream stream;
    std::vector<tune::Measured> measured;
    if (check) measured.push_back(tune::measureStanding(*shape, cell.plain, stream.get()));
    else measured = tune::searchShape(*shape, cell.plain, stream.get(), [&] { return stop.stop_requested(); });
    if (stop.stop_requested()) return makeError(ErrorCode::cancelled, "Cancelled");
    std::vector<TuneRow> rows;
    const tune::Measured* const quickest = measured.empty() ? nullptr : &tune::quickest(measured, *shape);
    for (const tune::Measured& one : measured) {
        rows.push_back(rowOf(cell, one));
        rows.back().status = &one == quickest ? (one.standing ? "kept" : "chosen") : one.standing ? "replaced" : "tried";
    }
    return rows;
} catch (const std::runtime_error& error) {
    return makeError(ErrorCode::environment, fmt::format("{} {} x {}: {}", cell.op, cell.rows, cell.hidden, error.what()));
}

}  // namespace kernelscope
