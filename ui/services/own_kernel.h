#pragma once

#include <vector>

#include <QObject>
#include <QPointer>
#include <QTimer>

#include "core/client/kernel_versions.h"

namespace kernelscope::ui {

class EngineAdapter;

/// A kernel's file that is being worked on: watched on the engine's machine, and what each saved version came to.
class OwnKernel : public QObject {
    Q_OBJECT
public:
    explicit OwnKernel(QObject* parent = nullptr);

    void attach(EngineAdapter* engine);
    void open(const QString& file);
    void close();
    [[nodiscard]] bool isOpen() const { return !m_file.isEmpty(); }
    [[nodiscard]] const QString& file() const { return m_file; }
    /// What its variant is called: the file's name without its ending.
    [[nodiscard]] QString variant() const;

    [[nodiscard]] const std::string& current() const { return m_watch.current(); }  ///< the version that is there now

    /// Adds what a version came to, or replaces what is known of it.
    void add(KernelVersion version);
    [[nodiscard]] const std::vector<KernelVersion>& versions() const { return m_versions; }

signals:
    void opened();
    void saved();     ///< a version that has not been tried yet
    void versionsChanged();
    void missing(const QString& why);  ///< the file cannot be read, for longer than an editor takes to put another in its place

private:
    void look();

    QPointer<EngineAdapter> m_engine;
    QString m_file;
    QTimer m_timer;
    bool m_asking = false;
    int m_misses = 0;
    VersionWatch m_watch;
    std::vector<KernelVersion> m_versions;
};

}  // namespace kernelscope::ui
