#pragma once

#include <QSettings>
#include <QStringList>

#include "ui/theme.h"

namespace kernelscope::ui {

/// What the window remembers, in the platform's place for it. Each entry is named once, here.
class Settings {
public:
    /// `file` empty: the platform's place.
    explicit Settings(const QString& file = {});

    [[nodiscard]] Scheme scheme() const;
    void setScheme(Scheme scheme);
    [[nodiscard]] double zoom() const;
    void setZoom(double zoom);
    [[nodiscard]] QString engineCommand() const;  ///< empty: the one beside the program
    void setEngineCommand(const QString& command);
    [[nodiscard]] QStringList machines() const;  ///< commands of engines elsewhere, newest first
    void addMachine(const QString& command);
    [[nodiscard]] QString text(const QString& key, const QString& fallback) const;
    void setText(const QString& key, const QString& value);
    [[nodiscard]] QByteArray state(const QString& key) const;
    void setState(const QString& key, const QByteArray& state);
    [[nodiscard]] QStringList recentModels() const;  ///< folders, newest first, those that still exist
    void addRecentModel(const QString& folder);
    struct RecentRun {
        QString id, title;
    };
    [[nodiscard]] QList<RecentRun> recentRuns() const;  ///< newest first
    void addRecentRun(const QString& id, const QString& title);

private:
    QSettings m_settings;
};

}  // namespace kernelscope::ui
