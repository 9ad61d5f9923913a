#pragma once
// What the Kernels page draws, computed from rows of validate and sweep.

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <QString>

#include "core/records/kernel_rows.h"
#include "ui/models/roles.h"

namespace kernelscope::ui {

/// What is looked at: one operator's variant in one type and state of the cache.
struct KernelView {
    std::string op, variant, dtype, cache;
    bool operator==(const KernelView&) const = default;
};

/// An operator and what is known of its best variant so far.
struct OperatorSummary {
    std::string op;
    QString status;      ///< "Valid", "Wrong", "Not validated", ...
    Tone tone = Tone::muted;
    QString icon;
    QString speedup;     ///< "8.1x" over all types and states of the cache, empty: not measured
    bool operator==(const OperatorSummary&) const = default;
};

/// Verdict of one status or verdict word: how it reads, and its icon; never a colour alone.
struct StatusLook { QString text; Tone tone; QString icon; };
StatusLook statusLook(const std::string& status);
StatusLook verdictLook(const std::string& verdict);

/// The operators in rows of either kind, in the order in which they came.
std::vector<OperatorSummary> operatorSummaries(std::span<const ValidateRow> validated, std::span<const SweepRow> swept);

/// "8.1x": the best variant of the view's operator in its type and state of the cache (empty: in all); empty: not measured.
QString bestSpeedup(std::span<const SweepRow> swept, const KernelView& view);

/// Values that occur, in order of appearance.
std::vector<std::string> variantsOf(std::span<const ValidateRow> validated, std::span<const SweepRow> swept, const std::string& op);
std::vector<std::string> dtypesOf(std::span<const ValidateRow> validated, std::span<const SweepRow> swept);
std::vector<std::string> cachesOf(std::span<const SweepRow> swept);

/// One line a hidden size: speed-up against rows.
struct SpeedupPoint { double rows, speedup; std::optional<double> low, high; };
struct SpeedupLine { std::int64_t hidden; std::vector<SpeedupPoint> points; };
std::vector<SpeedupLine> speedupLines(std::span<const SweepRow> swept, const KernelView& view);

/// A grid of hidden x rows.
struct GridCell {
    std::optional<double> value;  ///< what colours it
    QString text;                 ///< what stands in it
    QString icon;                 ///< for a state that is no figure
    Tone tone = Tone::normal;
    QString detail;               ///< tool tip
    std::string key;              ///< of the row, empty: not there yet
};
struct Grid {
    std::vector<std::int64_t> hidden, rows;
    std::vector<GridCell> cells;  ///< hidden first
    double least = 0, most = 100;
    [[nodiscard]] const GridCell& at(int h, int r) const { return cells[std::size_t(h) * rows.size() + std::size_t(r)]; }
};
enum class GridFigure { limit, speedup, deviceUs };
Grid sweepGrid(std::span<const SweepRow> swept, const KernelView& view, GridFigure figure);
/// Worst status of all cases at a shape.
Grid validationGrid(std::span<const ValidateRow> validated, const KernelView& view);

/// The same with the shapes that are planned and not there yet. Nothing is added to a grid without cells.
Grid withPlan(Grid grid, std::span<const std::int64_t> hidden, std::span<const std::int64_t> rows);
/// Hidden size and rows of a cell's key, where it is of the operator and type in view.
std::optional<std::pair<std::int64_t, std::int64_t>> busyShape(const std::string& key, const KernelView& view);

/// "fused is 8.1x faster than native (geometric mean of 80 cells), never slower"
QString sweepHeadline(std::span<const SweepRow> swept, const KernelView& view);
/// "416 of 416 validation cases passed, 8 skipped, at most 1 ULP from float64"
QString validationSentence(std::span<const ValidateRow> validated, const KernelView& view);

}  // namespace kernelscope::ui
