#pragma once

#include <vector>

#include <QWidget>

class QCheckBox;
class QComboBox;

namespace kernelscope::ui {

/// Which operators to replace, and by which variant.
class PatchList : public QWidget {
    Q_OBJECT
public:
    explicit PatchList(QWidget* parent = nullptr);
    /// "rms_norm=fused,silu_mul=fused"; empty: every operator by its best variant, which is what the engine does unasked.
    [[nodiscard]] QString patch() const;
    void setPatch(const QString& patch);
    void setAll(bool checked);
    [[nodiscard]] bool any() const;

signals:
    void changed();

private:
    struct Line { QString op; QCheckBox* box; QComboBox* variant; };
    std::vector<Line> m_lines;
};

}  // namespace kernelscope::ui
