#pragma once

#include <functional>

#include "ui/models/runs_table.h"
#include "ui/pages/page.h"
#include "ui/services/run_library.h"

class QLabel;
class QLineEdit;
class QPushButton;
class QStackedWidget;

namespace kernelscope::ui {

class Banner;
class Card;
class ComparePanel;
class EmptyState;
class LargeRunPanel;
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
    [[nodiscard]] QList<Chart*> charts() const override;
    [[nodiscard]] std::function<std::string(ExportFormat)> comparisonShown() const override;

    [[nodiscard]] TableView* table() const { return m_table; }
    [[nodiscard]] RunsTable* model() const { return m_model; }
    [[nodiscard]] Banner* banner() const { return m_banner; }
    [[nodiscard]] ComparePanel* comparePanel() const { return m_compare; }
    [[nodiscard]] QPushButton* compareButton() const { return m_compareButton; }
    [[nodiscard]] QPushButton* deleteButton() const { return m_delete; }
    [[nodiscard]] QPushButton* pinButton() const { return m_pin; }
    [[nodiscard]] QLineEdit* noteEdit() const { return m_note; }
    [[nodiscard]] QLineEdit* tagsEdit() const { return m_tags; }
    [[nodiscard]] LargeRunPanel* largeRun() const { return m_large; }
    /// A run that no page of charts can hold.
    void showLarge(const SavedRunPtr& run);
    /// Ids of the selected runs, top to bottom.
    [[nodiscard]] QStringList selectedIds() const;

signals:
    void exportRunRequested(const QString& id);
    void exportComparisonRequested(const std::function<std::string(kernelscope::ExportFormat)>& document);

private:
    void refresh();
    void listed(const RunList& runs);
    void updateButtons();
    QWidget* makeDetails();
    void compareSelected();
    void removeSelected();
    void editSelected(std::function<Result<void>(Store&, const std::string&)> change);
    [[nodiscard]] const RunSummary* selectedRun() const;  ///< null unless exactly one

    Services m_services;
    Card* m_card;
    RunsTable* m_model;
    TableView* m_table;
    Banner* m_banner;
    LargeRunPanel* m_large;
    EmptyState* m_empty;
    QStackedWidget* m_stack;
    QPushButton* m_open;
    QPushButton* m_export;
    QPushButton* m_compareButton;
    QPushButton* m_delete;
    QPushButton* m_pin;
    QLabel* m_command;
    QLineEdit* m_note;
    QLineEdit* m_tags;
    ComparePanel* m_compare;
    bool m_stale = true;
};

}  // namespace kernelscope::ui
