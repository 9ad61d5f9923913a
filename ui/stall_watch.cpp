#include "ui/stall_watch.h"

#include <QEvent>

namespace kernelscope::ui {

void WatchedApplication::startWatching() {
    m_watching = true;
    m_worst = {};
    m_total = 0;
}

bool WatchedApplication::notify(QObject* receiver, QEvent* event) {
    if (!m_watching) return QApplication::notify(receiver, event);
    // The receiver may be gone afterwards: keep its name now.
    const char* name = receiver->metaObject()->className();
    const int type = int(event->type());
    const auto before = threadCpuTime();
    ++m_depth;
    const bool handled = QApplication::notify(receiver, event);
    --m_depth;
    if (m_depth > 0) return handled;  // counted in the outermost
    const double milliseconds = std::chrono::duration<double, std::milli>(threadCpuTime() - before).count();
    m_total += milliseconds;
    if (milliseconds > m_worst.milliseconds) m_worst = {milliseconds, name, type};
    return handled;
}

}  // namespace kernelscope::ui
