#pragma once

#include <vector>

#include "ui/charts/plot.h"
#include "ui/models/kernel_summary.h"

namespace kernelscope::ui {

/// Speed-up against rows, one line a hidden size with its 95 % band, and the line at 1.
class SpeedupPlot : public Plot {
    Q_OBJECT
public:
    explicit SpeedupPlot(QWidget* parent = nullptr);
    void setLines(std::vector<SpeedupLine> lines);
    [[nodiscard]] const std::vector<SpeedupLine>& lines() const { return m_lines; }

protected:
    void applyColors() const override;

private:
    std::vector<SpeedupLine> m_lines;
};

}  // namespace kernelscope::ui
