// Engines on other machines: how they are named, chosen, remembered, and how their folders are browsed.

#include <gtest/gtest.h>

#include <fstream>

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QSignalSpy>

#include "ui/main_window.h"
#include "ui/model_line.h"
#include "ui/pages/profile_page.h"
#include "ui/services/command_line.h"
#include "ui/services/engine_adapter.h"
#include "ui/services/machines.h"
#include "ui/text.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/engine_bar.h"
#include "ui/widgets/engine_log.h"
#include "ui/widgets/remote_folders.h"
#include "ui_support.h"

namespace kernelscope::ui {
namespace {

using namespace test;

TEST(Machines, AreNamedByTheirHostOrTheirFirstWords) {
    EXPECT_EQ(machineName("ssh gpubox kernelscope-engine"), "gpubox");
    EXPECT_EQ(machineName("ssh -p 2222 -o ServerAliveInterval=3 -T me@gpubox kernelscope-engine"), "me@gpubox");
    EXPECT_EQ(machineName("srun --gpus=1 kernelscope-engine"), "srun --gpus=1");
    EXPECT_EQ(machineName("docker exec -i bench kernelscope-engine"), "docker exec -i bench");
    EXPECT_EQ(machineName(""), "This machine");
    EXPECT_EQ(machineName("'/opt/with a space/kernelscope-engine'"), "This machine");
    EXPECT_FALSE(isElsewhere("kernelscope-engine --anything"));
    EXPECT_TRUE(isElsewhere("/usr/bin/ssh gpubox kernelscope-engine"));
}

QString itemWith(const QComboBox* combo, const QString& text) {
    for (int i = 0; i < combo->count(); ++i)
        if (combo->itemText(i).startsWith(text)) return combo->itemText(i);
    return {};
}
void activate(QComboBox* combo, const QString& text) {
    const int index = combo->findText(text, Qt::MatchStartsWith);
    ASSERT_GE(index, 0) << qPrintable(text);
    combo->setCurrentIndex(index);
    emit combo->activated(index);
}

TEST(Machines, AnotherOneIsChosenInTheDevicePickerAndRemembered) {
    QTemporaryDir folder;
    const QString script = folder.path() + "/script";
    std::ofstream(script.toStdString()) << "raw Welcome to gpubox\nawait engine.hello\nhello\n";
    TestWindow window("/nowhere/kernelscope-engine");
    auto* device = window->modelLine()->findChild<QComboBox*>("Device");
    activate(device, "Another machine");
    EXPECT_TRUE(window->engineBar()->isVisible());
    EXPECT_TRUE(device->currentText().startsWith("Automatic")) << "the entry is an action, not a device";
    // `env` stands for ssh: a program that starts another one, elsewhere as far as the window can tell.
    const QString command = QString("env ") + KERNELSCOPE_SCRIPTED_ENGINE + " " + script;
    window->engineBar()->edit()->setText(command);
    window->engineBar()->useButton()->click();
    ASSERT_TRUE(waitFor([&] { return window->services().engine->hello().has_value(); }));
    EXPECT_FALSE(itemWith(device, "scripted CPU").isEmpty());
    EXPECT_FALSE(itemWith(device, "This machine").isEmpty());
    EXPECT_TRUE(itemWith(device, "On env").isEmpty()) << "the one in use is not offered again";
    EXPECT_TRUE(waitFor([&] { return window->engineLog()->text().contains("Welcome to gpubox"); })) << "its greeting is kept in the log";

    activate(device, "This machine");
    EXPECT_FALSE(itemWith(device, "On env").isEmpty()) << "remembered";
    window.open();  // the window is told its engine by this test, but remembers the other
    EXPECT_FALSE(itemWith(window->modelLine()->findChild<QComboBox*>("Device"), "On env").isEmpty());
    EXPECT_EQ(Settings(window.path("window.ini")).machines(), QStringList(command));
}

TEST(Machines, OneThatCannotBeReachedIsNamedWithTheWayBack) {
    TestWindow window("/nowhere/kernelscope-engine");
    auto* device = window->modelLine()->findChild<QComboBox*>("Device");
    activate(device, "Another machine");
    // As ssh does: it says why and ends with 255.
    window->engineBar()->edit()->setText("env sh -c 'echo ssh: Could not resolve hostname gpubox >&2; exit 255'");
    window->engineBar()->useButton()->click();
    const Banner* banner = window->profilePage()->errorBanner();
    ASSERT_TRUE(waitFor([&] { return banner->isVisible() && banner->message().contains("Could not resolve hostname gpubox"); })) << qPrintable(banner->message());
    bool wayBack = false;
    for (const QLabel* label : banner->findChildren<QLabel*>()) wayBack = wayBack || label->text().contains("choose &quot;This machine&quot; under Device");
    EXPECT_TRUE(wayBack);
    EXPECT_TRUE(device->currentText().startsWith("Automatic, on env")) << qPrintable(device->currentText());
    EXPECT_FALSE(itemWith(device, "This machine").isEmpty());
}

TEST(Machines, SeveralGpusAreListedAndASweepCanTakeAll) {
    QTemporaryDir folder;
    Settings settings(folder.path() + "/window.ini");
    ModelLine line(settings);
    line.setDevices({{"cuda:0", "NVIDIA H200"}, {"cuda:1", "NVIDIA H200"}, {"cpu", "a CPU"}});
    auto* device = line.findChild<QComboBox*>("Device");
    EXPECT_FALSE(itemWith(device, "NVIDIA H200 (cuda:0)").isEmpty()) << "two of one name are told apart";
    EXPECT_FALSE(itemWith(device, "NVIDIA H200 (cuda:1)").isEmpty());
    EXPECT_EQ(itemWith(device, "a CPU"), "a CPU");
    activate(device, "All 2 GPUs");
    EXPECT_EQ(line.choice().devices, "cuda:0,cuda:1");
    EXPECT_EQ(line.choice().device, "cuda:0") << "what cannot be spread runs on the first";
    EXPECT_EQ(line.device()->id, "cuda:0");
    JobRequest request{.kind = "sweep", .model = "qwen2.5-tiny", .device = line.choice().devices};
    EXPECT_NE(commandLine(request).find("--devices cuda:0,cuda:1"), std::string::npos);
    line.setDevices({{"cuda:0", "NVIDIA H200"}, {"cpu", "a CPU"}});
    EXPECT_TRUE(itemWith(device, "All").isEmpty());
}

TEST(Machines, FoldersOfAnotherOneAreBrowsedThroughItsEngine) {
    QTemporaryDir folder;
    const QString script = folder.path() + "/script";
    std::ofstream(script.toStdString()) << "await engine.hello\nhello\n"
                                           "await folder.list\nanswer {\"path\": \"/models\", \"parent\": \"/\", \"model\": false, \"folders\": [{\"name\": \"qwen\", \"model\": true}, {\"name\": \"other\", \"model\": false}]}\n"
                                           "await folder.list\nanswer {\"path\": \"/models/other\", \"parent\": \"/models\", \"model\": false, \"folders\": []}\n"
                                           "await folder.list\nrefuse 65 The folder /secret cannot be listed: Permission denied\n";
    TestWindow window(QString("env ") + KERNELSCOPE_SCRIPTED_ENGINE + " " + script);
    ASSERT_TRUE(waitFor([&] { return window->services().engine->hello().has_value(); }));
    RemoteFolders dialog(*window->services().engine, "gpubox", {});
    dialog.setAttribute(Qt::WA_DeleteOnClose, false);
    QSignalSpy chosen(&dialog, &RemoteFolders::chosen);
    ASSERT_TRUE(waitFor([&] { return dialog.list()->count() == 2; }));
    EXPECT_EQ(dialog.path()->text(), "/models");
    EXPECT_FALSE(dialog.openButton()->isEnabled()) << "a folder of models is no model";
    emit dialog.list()->itemActivated(dialog.list()->item(1));
    ASSERT_TRUE(waitFor([&] { return dialog.path()->text() == "/models/other"; }));
    EXPECT_EQ(dialog.message()->text(), "There are no folders here.");
    dialog.path()->setText("/secret");
    emit dialog.path()->returnPressed();
    ASSERT_TRUE(waitFor([&] { return dialog.message()->text().contains("Permission denied"); }));
    EXPECT_TRUE(chosen.isEmpty());
}

}  // namespace
}  // namespace kernelscope::ui
