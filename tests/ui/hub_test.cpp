// Getting a model in the window; the engine is scripted.

#include <gtest/gtest.h>

#include <fstream>

#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>
#include <QTest>

#include "ui/model_line.h"
#include "ui/pages/runs_page.h"
#include "ui/services/engine_adapter.h"
#include "ui/text.h"
#include "ui/widgets/hub_bar.h"
#include "ui_support.h"

namespace kernelscope::ui {
namespace {

using namespace test;

const std::string kList = R"({"hub_cache": "/cache", "models": [{"model": "qwen2.5-tiny", "source": "preset", "bytes": 1, "folder": "", "problem": ""},)"
                          R"({"model": "Owner/Cached", "source": "hub cache", "bytes": 5, "folder": "/cache/x", "problem": ""},)"
                          R"({"model": "Owner/Other-kind", "source": "hub cache", "bytes": 5, "folder": "/cache/y", "problem": "another architecture"}]})";
const std::string kBegin = "await engine.hello\nhello\nawait model.list\nanswer " + kList + "\n";
const std::string kJob = "await job.start\n"
                         R"(answer {"environment": {}, "model": "Owner/New", "weights": "file", "device": "the hub", "dtype": "", "settings": {}})"
                         "\n";

struct HubWindow {
    explicit HubWindow(const std::string& script) {
        std::ofstream(folder.filePath("script").toStdString()) << script;
        window = std::make_unique<MainWindow>(WindowOptions{.settingsFile = folder.filePath("w.ini"), .store = folder.filePath("s.sqlite").toStdString(),
                                                            .engine = QString(KERNELSCOPE_SCRIPTED_ENGINE) + " " + folder.filePath("script")});
        window->show();
        known = waitFor([&] { return models().contains("Owner/Cached"); });
    }
    QStringList models() const {
        QStringList texts;
        const auto* box = window->modelLine()->findChild<QComboBox*>("Model");
        for (int i = 0; i < box->count(); ++i) texts << box->itemText(i);
        return texts;
    }
    QTemporaryDir folder;
    std::unique_ptr<MainWindow> window;
    bool known = false;
};

TEST(Hub, ThePickerShowsWhatTheCacheHoldsAndCanBeRun) {
    HubWindow hub(kBegin + "hang\n");
    ASSERT_TRUE(hub.known);
    EXPECT_FALSE(hub.models().contains("Owner/Other-kind"));
    EXPECT_TRUE(hub.models().contains("Get a model from the hub…"));
}

TEST(Hub, AModelIsFetchedWithProgressChosenAndLeavesNoRun) {
    HubWindow hub(kBegin + kJob + R"(send job.progress {"phase": "Fetching model.safetensors, MiB", "done": 312, "total": 942, "seconds_left": 12})" "\n" "await job.cancel\n" R"(send job.finished {"status": "cancelled"})" "\nhang\n");
    ASSERT_TRUE(hub.known);
    HubBar* bar = hub.window->hubBar();
    bar->open({});
    QTest::keyClicks(bar->edit(), "Owner/New");
    QTest::keyClick(bar->edit(), Qt::Key_Return);
    ASSERT_TRUE(waitFor([&] { return bar->message().contains("312"); })) << qPrintable(bar->message());
    EXPECT_EQ(bar->message(), "Fetching model.safetensors: 312 MiB of 942 MiB, 12 s left");
    EXPECT_EQ(bar->getButton()->text(), "Cancel");
    QTest::mouseClick(bar->getButton(), Qt::LeftButton);
    ASSERT_TRUE(waitFor([&] { return !bar->fetching(); }));
    EXPECT_TRUE(bar->message().startsWith("Cancelled; what has arrived is kept")) << qPrintable(bar->message());
    EXPECT_TRUE(hub.window->services().store->runs()->empty());
}

TEST(Hub, WhatArrivedIsChosen) {
    std::string list = kList;
    list.replace(list.find("Owner/Cached"), 12, "Owner/New");
    HubWindow hub(kBegin + kJob + R"(send job.finished {"status": "done", "headline": "here", "result": {"folder": "/cache/z"}})" "\nawait model.list\nanswer " + list + "\nhang\n");
    ASSERT_TRUE(hub.known);
    HubBar* bar = hub.window->hubBar();
    bar->open("Owner/New");
    QTest::mouseClick(bar->getButton(), Qt::LeftButton);
    ASSERT_TRUE(waitFor([&] { return !bar->fetching() && hub.models().contains("Owner/New"); }));
    EXPECT_TRUE(bar->message().contains("every file verified")) << qPrintable(bar->message());
    EXPECT_EQ(hub.window->modelLine()->choice().model, "Owner/New");
    EXPECT_TRUE(hub.window->services().store->runs()->empty());
}

TEST(Hub, ARefusalIsSaidWithItsWayOut) {
    HubWindow hub(kBegin + kJob + R"~(send job.finished {"status": "failed", "error": {"code": 65, "message": "the hub has no model Owner/New (404)", "advice": "check the name"}})~" "\nhang\n");
    ASSERT_TRUE(hub.known);
    HubBar* bar = hub.window->hubBar();
    bar->open("Owner/New");
    QTest::mouseClick(bar->getButton(), Qt::LeftButton);
    ASSERT_TRUE(waitFor([&] { return !bar->fetching(); }));
    EXPECT_EQ(bar->message(), "The hub has no model Owner/New (404)\nCheck the name");
}

}  // namespace
}  // namespace kernelscope::ui
