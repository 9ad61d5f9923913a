#include "ui/services/run_library.h"

#include "core/records/rows.h"
#include "ui/text.h"

namespace kernelscope::ui {

/// Lives in the library's thread; opens the store at its first use.
class RunLibrary::Reader : public QObject {
public:
    explicit Reader(std::filesystem::path file) : m_file(std::move(file)) {}

    Result<std::vector<RunSummary>> list() {
        if (const auto opened = open(); !opened) return opened.error();
        return m_store->runs();
    }

    Result<SavedRunPtr> read(const std::string& id) {
        if (const auto opened = open(); !opened) return opened.error();
        auto summary = m_store->run(id);
        if (!summary) return summary.error();
        auto saved = std::make_shared<SavedRun>();
        saved->summary = std::move(*summary);
        saved->rows = RunRows(saved->summary.header);
        const RunHeader& header = saved->summary.header;
        for (const RowType& type : rowTypesOf(header.kind)) {
            auto records = m_store->rows(header.id, std::string(type.name));
            if (!records) return records.error();
            for (RowRecord& record : *records) saved->rows.apply(std::move(record));
        }
        return SavedRunPtr(std::move(saved));
    }

private:
    // A kind's own rows; samples are read where a page asks for them, they can be many.
    static std::vector<RowType> rowTypesOf(const std::string& kind) {
        std::vector<RowType> types;
        for (const RowType& type : rowTypes()) {
            if (type.name == kind || (kind == "profile" && (type.name == "profile_module" || type.name == "profile_event"))) types.push_back(type);
        }
        return types;
    }

    Result<void> open() {
        if (m_store) return {};
        auto store = Store::open(m_file);
        if (!store) return store.error();
        m_store = std::move(*store);
        return {};
    }

    std::filesystem::path m_file;
    std::unique_ptr<Store> m_store;
};

RunLibrary::RunLibrary(std::filesystem::path store, QObject* parent) : QObject(parent), m_reader(new Reader(std::move(store))) {
    m_reader->moveToThread(&m_thread);
    connect(&m_thread, &QThread::finished, m_reader, &QObject::deleteLater);
    m_thread.setObjectName("run library");
    m_thread.start();
}

RunLibrary::~RunLibrary() {
    m_thread.quit();
    m_thread.wait();
}

void RunLibrary::refresh() {
    const int ticket = ++*m_newestList;
    QMetaObject::invokeMethod(m_reader, [this, ticket, reader = m_reader, newest = m_newestList] {
        if (ticket != *newest) return;  // a newer request stands in the queue
        auto runs = reader->list();
        QMetaObject::invokeMethod(this, [this, runs = std::move(runs)]() mutable {
            if (runs) emit runsLoaded(std::make_shared<const std::vector<RunSummary>>(std::move(*runs)));
            else emit failed(runs.error());
        });
    });
}

void RunLibrary::open(const QString& id) {
    const int ticket = ++*m_newestOpen;
    QMetaObject::invokeMethod(m_reader, [this, ticket, id = fromQt(id), reader = m_reader, newest = m_newestOpen] {
        if (ticket != *newest) return;
        auto run = reader->read(id);
        QMetaObject::invokeMethod(this, [this, ticket, newest, run = std::move(run)] {
            if (ticket != *newest) return;
            if (run) emit runOpened(*run);
            else emit failed(run.error());
        });
    });
}

}  // namespace kernelscope::ui
