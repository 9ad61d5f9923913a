#pragma once

#include "ui/models/runs_table.h"
#include "ui/pages/page.h"
#include "ui/services/run_library.h"

class QLabel;
class QPushButton;
class QStackedWidget;

namespace kernelscope::ui {

class Banner;
class Card;
class EmptyState;
class TableView;

/// Every run that was kept. Works with no engine and no GPU.
class RunsPage : public Page {
    Q_OBJECT
public:
    explicit RunsPage(QWidget* parent = nullptr);

    [[nodiscard]] QString title() const override { return "Runs"; }
    [[nodiscard]] QString iconName() const override { return "runs"; }
    void attach(const Services& services) override;
    void engineReplaced(const Services& services) override;
    void entered() override;
    void showError(const Error& error) override;

    [[nodiscard]] TableView* table() const { return m_table; }
    [[nodiscard]] RunsTable* model() const { return m_model; }
    [[nodiscard]] Banner* banner() const { return m_banner; }
    /// Ids of the selected runs, top to bottom.
    [[nodiscard]] QStringList selectedIds() const;

signals:
    void exportRunRequested(const QString& id);

private:
    void refresh();
    void listed(const RunList& runs);
    void updateButtons();

    Services m_services;
    Card* m_card;
    RunsTable* m_model;
    TableView* m_table;
    Banner* m_banner;
    EmptyState* m_empty;
    QStackedWidget* m_stack;
    QPushButton* m_open;
    QPushButton* m_export;
    bool m_stale = true;
};

}  // namespace kernelscope::ui
