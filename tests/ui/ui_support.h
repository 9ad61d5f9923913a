#pragma once
// What the tests of the window share: made-up rows, a window on a store of its own, waiting without sleeping.

#include <functional>
#include <memory>

#include <QString>
#include <QTemporaryDir>

#include "core/client/store.h"
#include "core/records/kernel_rows.h"
#include "core/records/rows.h"
#include "ui/main_window.h"
#include "ui/services/run_rows.h"

namespace kernelscope::ui::test {

/// A level-type decode profile: seven types, then unattributed, total and profiler tax. `scale` moves all times.
std::vector<ProfileRow> profileRows(double scale = 1, bool gpu = false);
/// A level-leaf profile of some layers.
std::vector<ProfileRow> leafRows(int layers);

/// The modules of the same layers.
std::vector<ProfileModuleRow> moduleRows(int layers);
/// A pass of these modules on tracks cpu and span, and `kernelsAModule` kernels each where that is not 0.
std::vector<ProfileEventRow> eventRows(int layers, int kernelsAModule);

RowRecord recordOf(const ProfileRow& row);
RunHeader profileHeader(const std::string& model = "Qwen2.5-tiny");

/// A finished profile in the store; returns its id.
std::string storeProfile(Store& store, const std::string& model, double scale = 1, bool gpu = false);

/// rms_norm native and fused, two hidden sizes by two row counts: fused four times faster.
std::vector<SweepRow> sweepRows();
/// Four cases of fused, all ok.
std::vector<ValidateRow> validateRows();
std::string storeSweep(Store& store);

/// Native and patched, eager: 1.43x; and what such a run keeps beside its rows.
std::vector<EndToEndRow> endToEndRows();
nlohmann::json endToEndResult();
std::string storeEndToEnd(Store& store);

/// Runs the event loop until the condition holds; false after the deadline.
bool waitFor(const std::function<bool()>& condition, int milliseconds = 10'000);

/// The engine of this build, beside this test program.
QString builtEngine();

/// For windows that need none.
constexpr const char* kNoEngine = "/nowhere/kernelscope-engine";

/// A window with a store and settings of its own, shown and past its first paint.
class TestWindow {
public:
    explicit TestWindow(const QString& engine, const QString& folderName = "data");
    ~TestWindow();
    TestWindow(const TestWindow&) = delete;
    TestWindow& operator=(const TestWindow&) = delete;

    void open();  ///< again, on the same store and settings
    MainWindow& operator*() { return *m_window; }
    MainWindow* operator->() { return m_window.get(); }
    [[nodiscard]] QString path(const QString& name) const;
    [[nodiscard]] std::filesystem::path storePath() const;

private:
    QTemporaryDir m_folder;
    QString m_data, m_engine;
    std::unique_ptr<MainWindow> m_window;
};

}  // namespace kernelscope::ui::test
