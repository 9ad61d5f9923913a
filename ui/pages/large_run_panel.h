#pragma once

#include <QWidget>

#include "ui/services/run_library.h"

class QComboBox;
class QLabel;
class QTableView;

namespace kernelscope::ui {

class Card;
class PagedRows;

/// A run with more rows than a page of charts could take in: its rows as they stand, page by page.
class LargeRunPanel : public QWidget {
    Q_OBJECT
public:
    explicit LargeRunPanel(QWidget* parent = nullptr);
    void show(const SavedRunPtr& run, RunLibrary* library);
    [[nodiscard]] PagedRows* model() const { return m_model; }
    [[nodiscard]] QTableView* table() const { return m_table; }

signals:
    void backRequested();
    void exportRequested(const QString& id);

private:
    void showType();

    SavedRunPtr m_run;
    RunLibrary* m_library = nullptr;
    QLabel* m_headline;
    QLabel* m_facts;
    Card* m_card;
    QComboBox* m_type;
    PagedRows* m_model;
    QTableView* m_table;
};

}  // namespace kernelscope::ui
