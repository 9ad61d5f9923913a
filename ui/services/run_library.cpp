#include "ui/services/run_library.h"

#include <algorithm>

#include <QPointer>

#include "core/client/import.h"
#include "core/records/rows.h"
#include "ui/services/export_run.h"
#include "ui/text.h"

namespace kernelscope::ui {

/// Lives in the library's thread; opens the store at its first use.
class RunLibrary::Reader : public QObject {
public:
    explicit Reader(std::filesystem::path file) : m_file(std::move(file)) {}

    Result<std::vector<RunSummary>> list() {
        if (const auto opened = open(); !opened) return opened.error();
        auto runs = m_store->runs();
        if (!runs) return runs;
        // A run that was imported lately may be an old one.
        std::stable_sort(runs->begin(), runs->end(), [](const RunSummary& a, const RunSummary& b) { return a.header.when > b.header.when; });
        return runs;
    }

    template <typename T>
    Result<T> with(const std::function<Result<T>(Store&)>& work) {
        if (const auto opened = open(); !opened) return opened.error();
        return work(*m_store);
    }

    Result<SavedRunPtr> read(const std::string& id) {
        if (const auto opened = open(); !opened) return opened.error();
        auto summary = m_store->run(id);
        if (!summary) return summary.error();
        auto saved = std::make_shared<SavedRun>();
        saved->summary = std::move(*summary);
        saved->rows = RunRows(saved->summary.header);
        const RunHeader& header = saved->summary.header;
        auto counts = countsOf(header);
        if (!counts) return counts.error();
        if (!counts->empty()) {
            saved->large = std::move(*counts);
            return SavedRunPtr(std::move(saved));
        }
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
            if (type.name == kind || type.name.starts_with(kind + "_") ||
                ((kind == "sweep" || kind == "validate") && (type.name == "validate" || type.name == "error_map" || type.name == "roofline"))) types.push_back(type);
        }
        return types;
    }

    /// Every type of row that a large run has; nothing for one that fits.
    Result<std::vector<std::pair<std::string, std::int64_t>>> countsOf(const RunHeader& header) {
        constexpr std::int64_t kMost = 50'000;  // 80 MiB as records, and more points than any chart shows
        std::int64_t read = 0;
        std::vector<std::pair<std::string, std::int64_t>> counts;
        const auto shown = rowTypesOf(header.kind);
        for (const RowType& type : rowTypes()) {
            const auto count = m_store->rowCount(header.id, std::string(type.name));
            if (!count) return count.error();
            const bool isShown = std::any_of(shown.begin(), shown.end(), [&](const RowType& other) { return other.name == type.name; });
            if (isShown) read += *count;
            if (*count > 0) counts.emplace_back(type.name, *count);
        }
        std::stable_partition(counts.begin(), counts.end(), [&](const auto& entry) { return entry.first == header.kind; });
        if (read <= kMost) counts.clear();
        return counts;
    }

    Result<void> open() {
        if (m_store) return {};
        auto store = Store::openToRead(m_file);
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

template <typename T>
void RunLibrary::ask(std::function<Result<T>(Store&)> work, std::function<void(T)> done) {
    QMetaObject::invokeMethod(m_reader, [this, reader = m_reader, work = std::move(work), done = std::move(done)] {
        auto answer = reader->template with<T>(work);
        QMetaObject::invokeMethod(this, [this, done, answer = std::move(answer)]() mutable {
            if (answer) done(std::move(*answer));
            else emit failed(answer.error());
        });
    });
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

void RunLibrary::read(const QStringList& ids, QObject* context, std::function<void(const std::vector<SavedRunPtr>&)> done) {
    QMetaObject::invokeMethod(m_reader, [this, ids, reader = m_reader, context = QPointer<QObject>(context), done = std::move(done)] {
        std::vector<SavedRunPtr> runs;
        for (const QString& id : ids) {
            if (auto run = reader->read(fromQt(id))) runs.push_back(*run);
        }
        QMetaObject::invokeMethod(this, [context, done, runs = std::move(runs)] { if (context) done(runs); });
    });
}

void RunLibrary::samples(const QString& runId, const std::string& rowKey, QObject* context, std::function<void(const std::vector<SampleRow>&)> done) {
    ask<std::vector<SampleRow>>([id = fromQt(runId), rowKey](Store& store) -> Result<std::vector<SampleRow>> {
        const auto records = store.rowsWhere(id, std::string(RowSchema<SampleRow>::kName), "row_key", rowKey);
        if (!records) return records.error();
        std::vector<SampleRow> found;
        for (const RowRecord& record : *records) {
            auto sample = rowFrom<SampleRow>(record.values);
            if (sample) found.push_back(std::move(*sample));
        }
        return found;
    }, [context = QPointer<QObject>(context), done = std::move(done)](const std::vector<SampleRow>& found) { if (context) done(found); });
}

void RunLibrary::page(const QString& runId, const std::string& type, std::int64_t offset, std::int64_t count, QObject* context,
                      std::function<void(const std::vector<RowRecord>&)> done) {
    ask<std::vector<RowRecord>>([id = fromQt(runId), type, offset, count](Store& store) { return store.rows(id, type, offset, count); },
                                [context = QPointer<QObject>(context), done = std::move(done)](const std::vector<RowRecord>& rows) { if (context) done(rows); });
}

void RunLibrary::edit(std::function<Result<void>(Store&)> change) {
    ask<bool>([change = std::move(change)](Store& store) -> Result<bool> {
        if (const auto changed = change(store); !changed) return changed.error();
        return true;
    }, [this](bool) { refresh(); });
}

void RunLibrary::importFile(const QString& file) {
    QMetaObject::invokeMethod(m_reader, [this, file, reader = m_reader] {
        auto made = reader->with<RunHeader>([&](Store& store) { return kernelscope::importFile(store, std::filesystem::path(file.toStdU16String())); });
        QMetaObject::invokeMethod(this, [this, made = std::move(made)] {
            if (!made) return emit importFailed(made.error());
            open(toQt(made->id));
            refresh();
        });
    });
}

void RunLibrary::compare(const QStringList& ids) {
    std::vector<std::string> names;
    for (const QString& id : ids) names.push_back(fromQt(id));
    ask<ComparisonPtr>([names, ids](Store& store) -> Result<ComparisonPtr> {
        auto comparison = compareRuns(store, names);
        if (!comparison && std::any_of(names.begin(), names.end(), [](const std::string& name) { return name.find(',') != std::string::npos; })) {
            // They looked like repeats and are none: one by one.
            std::vector<std::string> single;
            for (const QString& id : ids.join(',').split(',')) single.push_back(fromQt(id));
            comparison = compareRuns(store, single);
        }
        if (!comparison) return comparison.error();
        return ComparisonPtr(std::make_shared<const Comparison>(std::move(*comparison)));
    }, [this](const ComparisonPtr& comparison) { emit compared(comparison); });
}

void RunLibrary::document(const QString& id, ExportFormat format, std::int64_t mostRows, QObject* context, std::function<void(const std::string&)> done) {
    ask<std::string>([id = fromQt(id), format, mostRows](Store& store) { return kernelscope::exportRun(store, id, format, {.mostRows = mostRows}); },
                     [context = QPointer<QObject>(context), done = std::move(done)](const std::string& text) { if (context) done(text); });
}

void RunLibrary::exportTo(const QString& id, ExportFormat format, const QString& file) {
    ask<QString>([id = fromQt(id), format, file](Store& store) -> Result<QString> {
        if (const auto written = exportRunTo(std::filesystem::path(file.toStdU16String()), store, id, format); !written) return written.error();
        return file;
    }, [this](const QString& written) { emit exported(written); });
}

}  // namespace kernelscope::ui
