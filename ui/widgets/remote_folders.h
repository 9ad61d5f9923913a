#pragma once

#include <QDialog>

class QLabel;
class QLineEdit;
class QListWidget;
class QListWidgetItem;
class QPushButton;

namespace kernelscope::ui {

class EngineAdapter;

/// Folders of the engine's machine, asked for one by one: a model is chosen where the engine can open it.
class RemoteFolders : public QDialog {
    Q_OBJECT
public:
    /// Begins at `folder`, or at the home there.
    RemoteFolders(EngineAdapter& engine, const QString& machine, const QString& folder, QWidget* parent = nullptr);

    [[nodiscard]] QListWidget* list() const { return m_list; }
    [[nodiscard]] QLineEdit* path() const { return m_path; }
    [[nodiscard]] QPushButton* openButton() const { return m_open; }
    [[nodiscard]] QLabel* message() const { return m_message; }

signals:
    void chosen(const QString& folder);

private:
    void show(const QString& folder);
    void enter(QListWidgetItem* item);
    void choose();
    void selected();

    EngineAdapter& m_engine;
    QLineEdit* m_path;
    QPushButton* m_up;
    QListWidget* m_list;
    QLabel* m_message;
    QPushButton* m_open;
    QString m_folder, m_parent;  ///< shown now
    bool m_folderIsModel = false;
};

}  // namespace kernelscope::ui
