#pragma once
// Reads the store away from the GUI thread, through a connection of its own.

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include <QObject>
#include <QStringList>
#include <QThread>

#include "core/client/compare.h"
#include "core/client/export.h"
#include "core/records/rows.h"
#include "ui/services/run_rows.h"

namespace kernelscope::ui {

using ComparisonPtr = std::shared_ptr<const Comparison>;
using RunList = std::shared_ptr<const std::vector<RunSummary>>;

class RunLibrary : public QObject {
    Q_OBJECT
public:
    explicit RunLibrary(std::filesystem::path store, QObject* parent = nullptr);
    ~RunLibrary() override;

    void refresh();
    /// Only the newest request is answered: open A, open B shows B.
    void open(const QString& id);
    /// Several at once, for a page that shows parts of them; nothing arrives where `context` has gone by then.
    void read(const QStringList& ids, QObject* context, std::function<void(const std::vector<SavedRunPtr>&)> done);
    /// The raw samples of one row.
    void samples(const QString& runId, const std::string& rowKey, QObject* context, std::function<void(const std::vector<SampleRow>&)> done);
    /// Rows [offset, offset + count) of one type.
    void page(const QString& runId, const std::string& type, std::int64_t offset, std::int64_t count, QObject* context, std::function<void(const std::vector<RowRecord>&)> done);
    /// Changes the store (a note, a tag, a deletion), then lists again.
    void edit(std::function<Result<void>(Store&)> change);
    /// The first is the baseline.
    void compare(const QStringList& ids);
    /// Takes the file's run into the store, opens it and lists again; or importFailed.
    void importFile(const QString& file);
    /// A document of a kept run; the file appears complete or not at all.
    void exportTo(const QString& id, ExportFormat format, const QString& file);

    /// The same as text, with at most so many rows where the format is Markdown; nothing arrives where `context` has gone by then.
    void document(const QString& id, ExportFormat format, std::int64_t mostRows, QObject* context, std::function<void(const std::string&)> done);

signals:
    void runsLoaded(const kernelscope::ui::RunList& runs);
    void runOpened(const kernelscope::ui::SavedRunPtr& run);
    void compared(const kernelscope::ui::ComparisonPtr& comparison);
    void exported(const QString& file);
    void importFailed(const kernelscope::Error& error);
    void failed(const kernelscope::Error& error);

private:
    /// Runs `work` in the reader's thread and gives its value to `done` in this one; an error goes to failed().
    template <typename T>
    void ask(std::function<Result<T>(Store&)> work, std::function<void(T)> done);

    class Reader;
    QThread m_thread;
    Reader* m_reader;
    std::shared_ptr<std::atomic<int>> m_newestOpen = std::make_shared<std::atomic<int>>(0);
    std::shared_ptr<std::atomic<int>> m_newestList = std::make_shared<std::atomic<int>>(0);
};

}  // namespace kernelscope::ui
