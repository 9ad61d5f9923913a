// The window while its engine dies, hangs, floods and lies: no event holds it for a tenth of a second, nor does it wait for
// the engine.

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include <QApplication>
#include <QTimer>

#include "ui/pages/kernels_page.h"
#include "ui/services/engine_adapter.h"
#include "ui/stall_watch.h"
#include "ui_support.h"

namespace kernelscope::ui {
namespace {

using namespace test;

/// How long this thread has waited for a processor, of which a busy machine has too few: 0 where the kernel does not say.
double waitedForProcessorMs() {
    double running = 0, waiting = 0;
    std::ifstream("/proc/thread-self/schedstat") >> running >> waiting;
    return waiting / 1e6;
}

/// A timer that ought to fire every 5 ms; what it missed is time in which a click would have waited.
class Heartbeat {
public:
    Heartbeat() {
        m_timer.setTimerType(Qt::PreciseTimer);
        m_timer.callOnTimeout([this] { beat(); });
        m_timer.start(5);
        beat();
        m_worst = 0;
    }
    [[nodiscard]] double worstMs() const { return m_worst; }

private:
    void beat() {
        const auto now = std::chrono::steady_clock::now();
        const double waited = waitedForProcessorMs();
        const double gap = std::chrono::duration<double, std::milli>(now - m_last).count() - (waited - m_waited);
        m_worst = std::max(m_worst, gap);
        m_last = now;
        m_waited = waited;
    }
    QTimer m_timer;
    std::chrono::steady_clock::time_point m_last = std::chrono::steady_clock::now();
    double m_waited = waitedForProcessorMs(), m_worst = 0;
};

const std::string kGreeting = "await engine.hello\nhello\n";
const std::string kStart = R"(await job.start
answer {"environment": {}, "model": "Qwen2.5-tiny", "weights": "random", "device": "scripted CPU", "dtype": "float32", "settings": {"deadline": 0.5}}
)";
std::string cell(int rows) { return "rms_norm|fast|float32|896|" + std::to_string(rows) + "|cold"; }
std::string measuring(int rows) { return R"(send job.progress {"phase": "Timing", "done": 1, "total": 9, "cell": ")" + cell(rows) + "\"}\n"; }
std::string measured(int rows) {
    return R"(send job.row {"type": "sweep", "key": ")" + cell(rows) + R"(", "row": {"op": "rms_norm", "variant": "fast", "dtype": "float32", "hidden": 896, "rows": )" + std::to_string(rows) +
           R"(, "cache": "cold", "status": "ok", "device_us": 3.5}})" "\n";
}

TEST(IsolatedWindow, AnswersWithinATenthOfASecondWhateverTheEngineDoes) {
    for (const auto& [name, misfortune] : {std::pair{"killed", "die SIGKILL\n"},
                                           {"segmentation fault", "die SIGSEGV\n"},
                                           {"abort", "say terminate called\ndie SIGABRT\n"},
                                           {"out of memory", "exhaust\n"},
                                           {"endless", "stay\n"},
                                           {"stopped", "stop\n"},
                                           {"flood of nonsense", "garbage 100000\nstay\n"},
                                           {"flood without a line", "endless\n"},
                                           {"flood of rows and death", "rows 60000\ndie SIGKILL\n"},
                                           {"flood of its log and death", "repeat 100000 log {\"text\": \"again and again\"}\ndie SIGKILL\n"},
                                           {"flood of telemetry and death", "repeat 100000 telemetry {\"device\": \"cpu\", \"available\": true, \"sm_clock_mhz\": 5}\ndie SIGKILL\n"},
                                           {"flood of strange words and death", "repeat 100000 weather {\"rain\": true}\ndie SIGKILL\n"},
                                           {"closed pipe", "close\nstay\n"},
                                           {"half a line", "half {\"jsonrpc\":\"2.0\",\ndie SIGKILL\n"},
                                           {"invalid UTF-8", "raw \\xff\\xfe\nsay \\xff\ndie SIGABRT\n"},
                                           {"lying counts", "send job.progress {\"done\": -9, \"total\": 3, \"cell\": \"rms_norm|fast|float32|896|8|cold\"}\nsend job.row {\"type\": \"weather\", \"row\": {}}\ndie SIGKILL\n"}}) {
        QTemporaryDir folder;
        const std::string script = (folder.path() + "/script").toStdString();
        std::ofstream(script) << kGreeting + kStart + measuring(1) + measured(1) + measuring(8) + misfortune + "restart\n" + kGreeting + kStart + measuring(64) + measured(64) +
                                     "send job.finished {\"status\": \"done\"}\n";
        TestWindow window(QString(KERNELSCOPE_SCRIPTED_ENGINE) + " " + QString::fromStdString(script));
        EngineAdapter* engine = window->services().engine;
        ASSERT_TRUE(waitFor([&] { return engine->hello().has_value(); }));
        window->showPage("Kernels");
        JobRequest request{.kind = "sweep", .model = "qwen2.5-tiny", .settings = {{"deadline", 0.5}}};
        auto* watched = static_cast<WatchedApplication*>(qApp);
        watched->startWatching();
        Heartbeat heartbeat;
        ASSERT_TRUE(engine->start(std::move(request), "kernelscope-cli sweep").ok());
        ASSERT_TRUE(waitFor([&] { return !engine->running(); }, 60'000)) << name;
        std::printf("%s: worst event %.1f ms (%s), worst gap between beats %.1f ms\n", name, watched->worst().milliseconds, qPrintable(watched->worst().receiver), heartbeat.worstMs());
        EXPECT_LT(watched->worst().milliseconds, 100) << name;
        EXPECT_LT(heartbeat.worstMs(), 100) << name;
        const auto runs = window->services().store->runs();
        ASSERT_EQ(runs->size(), 1u) << name;
        EXPECT_EQ(runs->front().header.status, RunStatus::done) << name << ": " << runs->front().header.reason;
        EXPECT_EQ(runs->front().rows, 3) << name << ": the finished cells and the lost one";
    }
}

}  // namespace
}  // namespace kernelscope::ui
