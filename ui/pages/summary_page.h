#pragma once

#include "ui/pages/page.h"
#include "ui/services/run_library.h"

class QLabel;
class QPushButton;
class QStackedWidget;
class QVBoxLayout;

namespace kernelscope::ui {

class Banner;
class Card;
class EmptyState;
class ModelLine;
class ShareBars;
class ValueBars;

/// What is known of the current model: where its time goes, which kernels are right and faster, what they buy. Each part leads
/// to the run that it comes from.
class SummaryPage : public Page {
    Q_OBJECT
public:
    explicit SummaryPage(const ModelLine& model, QWidget* parent = nullptr);

    [[nodiscard]] QString title() const override { return "Summary"; }
    [[nodiscard]] QString iconName() const override { return "summary"; }
    void attach(const Services& services) override;
    void engineReplaced(const Services& services) override;
    void entered() override;
    void showError(const Error& error) override;
    [[nodiscard]] QList<Chart*> charts() const override;

    [[nodiscard]] ShareBars* bars() const { return m_bars; }
    [[nodiscard]] QLabel* profileHeadline() const { return m_profile.headline; }

private:
    struct Part {
        Card* card = nullptr;
        QLabel* headline = nullptr;
        QWidget* content = nullptr;
        QLabel* facts = nullptr;
        QPushButton* open = nullptr;
        QString run;
    };
    Part makePart(const QString& title, QWidget* content, const QString& page);
    void choose(const RunList& runs);
    void fill(const std::vector<SavedRunPtr>& runs);
    void clear(Part& part, const QString& sentence);
    void present(Part& part, const RunHeader& run, const QString& headline);
    [[nodiscard]] bool isOfModel(const RunHeader& run) const;

    const ModelLine& m_model;
    Services m_services;
    Banner* m_banner;
    QLabel* m_title;
    QStackedWidget* m_stack;
    EmptyState* m_empty;
    ShareBars* m_bars;
    QLabel* m_operators;
    ValueBars* m_decode;
    Part m_profile, m_kernels, m_endToEnd;
    QLabel* m_warnings;
    Card* m_warningCard;
    bool m_waiting = false;
};

}  // namespace kernelscope::ui
