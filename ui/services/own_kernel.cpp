#include "ui/services/own_kernel.h"

#include <algorithm>

#include <QFileInfo>

#include "ui/services/engine_adapter.h"
#include "ui/text.h"

namespace kernelscope::ui {
namespace {

// A file has to stand still for one look: a save is noticed after two of these at most.
constexpr int kLookEveryMs = 250;
constexpr int kMissesToSay = 8;

}  // namespace

OwnKernel::OwnKernel(QObject* parent) : QObject(parent) {
    m_timer.setInterval(kLookEveryMs);
    connect(&m_timer, &QTimer::timeout, this, &OwnKernel::look);
}

void OwnKernel::attach(EngineAdapter* engine) {
    m_engine = engine;
    m_asking = false;
}

void OwnKernel::open(const QString& file) {
    m_file = QFileInfo(file).absoluteFilePath();
    m_versions.clear();
    m_watch = {};
    m_misses = 0;
    m_timer.start();
    emit opened();
    look();
}

void OwnKernel::close() {
    m_timer.stop();
    m_file.clear();
    m_versions.clear();
    emit versionsChanged();
}

QString OwnKernel::variant() const { return QFileInfo(m_file).completeBaseName(); }

void OwnKernel::look() {
    if (!m_engine || m_asking || m_file.isEmpty()) return;
    m_asking = true;
    m_engine->call("kernel.version", {{"file", fromQt(m_file)}}, this, [this, file = m_file](const Result<nlohmann::json>& answer) {
        m_asking = false;
        if (file != m_file) return;
        if (!answer) {
            if (++m_misses == kMissesToSay) emit missing(toQt(answer.error().message));
            return;
        }
        m_misses = 0;
        if (m_watch.look(answer->value("version", ""))) emit saved();
    });
}

void OwnKernel::add(KernelVersion version) {
    const auto same = std::find_if(m_versions.begin(), m_versions.end(), [&](const KernelVersion& each) { return each.version == version.version && !version.version.empty(); });
    if (same != m_versions.end()) {
        version.number = same->number;
        *same = std::move(version);
    } else {
        version.number = m_versions.empty() ? 1 : m_versions.back().number + 1;
        m_versions.push_back(std::move(version));
    }
    emit versionsChanged();
}

}  // namespace kernelscope::ui
