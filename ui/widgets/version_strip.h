#pragma once

#include <vector>

#include <QWidget>

#include "core/client/kernel_versions.h"

namespace kernelscope::ui {

/// Versions of a kernel side by side, the newest at the right: state in a word and a mark, geometric-mean speed-up, and its cells' speed-ups as
/// a line. One is chosen, by the mouse or the arrow keys.
class VersionStrip : public QWidget {
    Q_OBJECT
public:
    explicit VersionStrip(QWidget* parent = nullptr);

    void setVersions(std::vector<KernelVersion> versions);
    [[nodiscard]] int chosen() const { return m_chosen; }
    void choose(int index);

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

signals:
    void versionChosen(int index);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    [[nodiscard]] double tileWidth() const;
    [[nodiscard]] QRectF tile(int index) const;
    [[nodiscard]] int indexAt(const QPointF& point) const;
    void drawTile(QPainter& painter, int index) const;
    void describe();

    std::vector<KernelVersion> m_versions;
    int m_chosen = -1;
};

/// "right", "rounds elsewhere", "wrong": the word of a version's state for people.
QString stateWord(const KernelVersion& version);

}  // namespace kernelscope::ui
