#pragma once
// What stands behind a kernel's figures: where in a result its errors are, and how near to the device's limits each cell came.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <QString>

#include "core/records/kernel_detail_rows.h"
#include "ui/models/kernel_summary.h"

namespace kernelscope::ui {

/// One validated cell's errors, in units of the last place, ready to draw.
struct ErrorView {
    QString cell;                  ///< "896 x 64 float16, basic"
    int rowBins = 0, columnBins = 0;
    std::int64_t rows = 0, columns = 0;
    std::vector<double> ulp;       ///< row after row; infinite: one side alone is finite
    double most = 0;               ///< of the finite ones
    std::vector<double> share, nativeShare;  ///< per cent of the elements in each class
    QString worst;                 ///< "row 12, column 345: got 0.5004, native 0.5, float64 0.50004"
    std::int64_t worstRow = 0, worstColumn = 0;
    [[nodiscard]] bool empty() const { return ulp.empty(); }
};

/// That of the cell whose row (of validate or sweep) has this key; else the worst in view.
ErrorView errorView(std::span<const ErrorMapRow> maps, const KernelView& view, const std::string& key);

/// The classes' labels: "0", "≤ ¼", ... "> 8".
QStringList errorClassLabels();

struct RooflinePoint {
    double intensity = 0;    ///< operations a byte
    double gflopPerS = 0;
    bool inView = false;     ///< of the variant in view; else native
    std::string key;         ///< of the sweep's row
    QString detail;
};
struct RooflineView {
    std::vector<RooflinePoint> points;
    double copyGbPerS = 0;
    std::optional<double> matmulGflopPerS;
    [[nodiscard]] bool empty() const { return points.empty() || !(copyGbPerS > 0); }
    /// What limits these kernels, and how near they come.
    [[nodiscard]] QString sentence() const;
};
RooflineView rooflineView(std::span<const RooflineRow> work, std::span<const SweepRow> swept, const KernelView& view);

}  // namespace kernelscope::ui
