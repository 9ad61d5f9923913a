#pragma once
// Reads the store away from the GUI thread, through a connection of its own.

#include <atomic>
#include <filesystem>
#include <memory>
#include <vector>

#include <QObject>
#include <QThread>

#include "ui/services/run_rows.h"

namespace kernelscope::ui {

using RunList = std::shared_ptr<const std::vector<RunSummary>>;

class RunLibrary : public QObject {
    Q_OBJECT
public:
    explicit RunLibrary(std::filesystem::path store, QObject* parent = nullptr);
    ~RunLibrary() override;

    void refresh();
    /// Only the newest request is answered: open A, open B shows B.
    void open(const QString& id);

signals:
    void runsLoaded(const kernelscope::ui::RunList& runs);
    void runOpened(const kernelscope::ui::SavedRunPtr& run);
    void failed(const kernelscope::Error& error);

private:
    class Reader;
    QThread m_thread;
    Reader* m_reader;
    std::shared_ptr<std::atomic<int>> m_newestOpen = std::make_shared<std::atomic<int>>(0);
    std::shared_ptr<std::atomic<int>> m_newestList = std::make_shared<std::atomic<int>>(0);
};

}  // namespace kernelscope::ui
