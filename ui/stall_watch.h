#pragma once
// How long one event held the GUI thread, in CPU time of that thread: other processes on a busy machine do not count.

#include <chrono>

#include <QApplication>

namespace kernelscope::ui {

/// A QApplication that measures each notify(). Used by the tests; the window itself runs on a plain QApplication.
class WatchedApplication : public QApplication {
public:
    WatchedApplication(int& argc, char** argv) : QApplication(argc, argv) {}

    struct Stall {
        double milliseconds = 0;
        QString receiver;  ///< class and object name
        int eventType = 0;
    };
    void startWatching();
    [[nodiscard]] const Stall& worst() const { return m_worst; }
    [[nodiscard]] double totalMilliseconds() const { return m_total; }

    bool notify(QObject* receiver, QEvent* event) override;

private:
    bool m_watching = false;
    int m_depth = 0;
    double m_total = 0;
    Stall m_worst;
};

/// CPU time of the calling thread.
std::chrono::nanoseconds threadCpuTime();

}  // namespace kernelscope::ui
