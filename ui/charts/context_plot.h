#pragma once

#include "ui/charts/plot.h"
#include "ui/models/context_summary.h"

namespace kernelscope::ui {

/// A figure against the length of the context, one line a batch, from zero.
class ContextPlot : public Plot {
    Q_OBJECT
public:
    ContextPlot(const QString& name, const QString& unit, QWidget* parent = nullptr);
    void setLines(std::vector<ContextLine> lines);
    [[nodiscard]] const std::vector<ContextLine>& lines() const { return m_lines; }

protected:
    void applyColors() const override;

private:
    QString m_unit;
    std::vector<ContextLine> m_lines;
};

/// The shares of the module types as one column a context.
class ShareColumns : public Chart {
    Q_OBJECT
public:
    explicit ShareColumns(QWidget* parent = nullptr);
    void setColumns(std::vector<ShareColumn> columns);
    [[nodiscard]] const std::vector<ShareColumn>& columns() const { return m_columns; }
    void sayWhyEmpty(const QString& why);  ///< instead of columns, where there are none
    void draw(QPainter& painter, const QRectF& area) const override;
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

private:
    std::vector<ShareColumn> m_columns;
    QString m_whyEmpty = "No shares yet";
};

}  // namespace kernelscope::ui
