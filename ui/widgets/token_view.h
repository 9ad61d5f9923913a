#pragma once

#include <vector>

#include <QTextBrowser>

namespace kernelscope::ui {

/// Token ids of two generations under each other, the first difference marked, then the text.
class TokenView : public QTextBrowser {
    Q_OBJECT
public:
    explicit TokenView(QWidget* parent = nullptr);
    struct Side { QString name; std::vector<qint64> ids; QString text; };
    /// `meaningless`: weights are random, so the text is no text.
    void show(const std::vector<Side>& sides, bool meaningless);

};

}  // namespace kernelscope::ui
