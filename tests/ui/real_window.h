#pragma once
// A window on the real engine, and what its tests do to it.

#include <gtest/gtest.h>

#include <QApplication>
#include <QComboBox>
#include <QCryptographicHash>
#include <QLineEdit>
#include <QPushButton>
#include <QTest>

#include "ui/charts/share_bars.h"
#include "ui/model_line.h"
#include "ui/pages/profile_page.h"
#include "ui/services/engine_adapter.h"
#include "ui_support.h"

namespace kernelscope::ui::test {

inline constexpr int kEngineStartMs = 120'000;  // loads 3 GB of libraries from a cold disk

inline QString engineToTest() { return qEnvironmentVariable("KERNELSCOPE_TEST_ENGINE", builtEngine()); }

/// On a busy machine threads that wait for each other cost more than they bring.
inline QString readyEngine() {
    if (!qEnvironmentVariableIsSet("OMP_NUM_THREADS")) qputenv("OMP_NUM_THREADS", "1");
    return engineToTest();
}

/// A window whose engine has said hello, set to the tiny model on the CPU.
struct RealWindow : TestWindow {
    explicit RealWindow(const QString& folder = "data") : TestWindow(readyEngine(), folder) {
        (*this)->modelLine()->setModel("qwen2.5-tiny");
        ready = waitFor([this] { return (*this)->services().engine->hello().has_value(); }, kEngineStartMs);
        auto* devices = (*this)->modelLine()->findChild<QComboBox*>("Device");
        const int cpu = devices->findData("cpu");
        if (cpu >= 0) devices->setCurrentIndex(cpu);
    }
    ProfilePage* page() { return (*this)->profilePage(); }
    void click() { QTest::mouseClick(page()->runButton(), Qt::LeftButton); }
    bool finish() { return waitFor([this] { return !page()->running(); }, 240'000); }
    bool ready = false;
};

inline QByteArray picture(QWidget* widget) {
    const QImage image = widget->grab().toImage();
    return QCryptographicHash::hash(QByteArrayView(image.constBits(), image.sizeInBytes()), QCryptographicHash::Md5);
}

inline void chooseFile(const QString& file) {
    ASSERT_TRUE(waitFor([] { return QApplication::activeModalWidget() != nullptr; }));
    auto* edit = QApplication::activeModalWidget()->findChild<QLineEdit*>("fileNameEdit");
    ASSERT_NE(edit, nullptr);
    edit->setText(file);
    QTest::keyClick(edit, Qt::Key_Return);
    ASSERT_TRUE(waitFor([] { return QApplication::activeModalWidget() == nullptr; }));
}

}  // namespace kernelscope::ui::test
