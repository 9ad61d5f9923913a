#include "ui/services/settings.h"

#include <algorithm>
#include <memory>

#include <QDir>
#include <QStandardPaths>

namespace kernelscope::ui {
namespace {

constexpr int kRecentModels = 8;  // as many as a menu shows without becoming a list to search

QString defaultFile() {
    return QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation) + "/kernelscope/window.ini";
}

}  // namespace

Settings::Settings(const QString& file) : m_settings(file.isEmpty() ? defaultFile() : file, QSettings::IniFormat) {}

Scheme Settings::scheme() const { return schemeFromString(m_settings.value("view/scheme").toString()); }
void Settings::setScheme(Scheme scheme) { m_settings.setValue("view/scheme", toString(scheme)); }

double Settings::zoom() const {
    const double zoom = m_settings.value("view/zoom", 1.0).toDouble();
    return zoom >= 0.6 && zoom <= 3.0 ? zoom : 1.0;
}
void Settings::setZoom(double zoom) { m_settings.setValue("view/zoom", zoom); }

QString Settings::engineCommand() const { return m_settings.value("engine/command").toString(); }
void Settings::setEngineCommand(const QString& command) { m_settings.setValue("engine/command", command); }

QStringList Settings::machines() const { return m_settings.value("engine/machines").toStringList(); }
void Settings::addMachine(const QString& command) {
    QStringList commands = machines();
    commands.removeAll(command);
    commands.prepend(command);
    constexpr int kKept = 6;
    m_settings.setValue("engine/machines", QStringList(commands.mid(0, kKept)));
}

QString Settings::text(const QString& key, const QString& fallback) const { return m_settings.value(key, fallback).toString(); }
void Settings::setText(const QString& key, const QString& value) { m_settings.setValue(key, value); }

QByteArray Settings::state(const QString& key) const { return m_settings.value(key).toByteArray(); }
void Settings::setState(const QString& key, const QByteArray& state) { m_settings.setValue(key, state); }

QStringList Settings::recentModels() const {
    QStringList folders = m_settings.value("models/recent").toStringList();
    folders.removeIf([](const QString& folder) { return !QDir(folder).exists(); });
    return folders;
}

QList<Settings::RecentRun> Settings::recentRuns() const {
    QList<RecentRun> runs;
    for (const QString& entry : m_settings.value("runs/recent").toStringList()) {
        if (entry.contains('\t')) runs << RecentRun{entry.section('\t', 0, 0), entry.section('\t', 1)};
    }
    return runs;
}

void Settings::addRecentRun(const QString& id, const QString& title) {
    QStringList entries{id + '\t' + title};
    for (const RecentRun& run : recentRuns()) {
        if (run.id != id && entries.size() < kRecentModels) entries << run.id + '\t' + run.title;
    }
    m_settings.setValue("runs/recent", entries);
}

void Settings::addRecentModel(const QString& folder) {
    QStringList folders = recentModels();
    folders.removeAll(folder);
    folders.prepend(folder);
    m_settings.setValue("models/recent", QStringList(folders.mid(0, kRecentModels)));
}

}  // namespace kernelscope::ui
