// The Profile page without an engine: what its parts say to each other, and what it says when something is not there.

#include <gtest/gtest.h>

#include <QLabel>
#include <QPushButton>
#include <QScrollBar>
#include <QSpinBox>
#include <QSignalSpy>
#include <QTest>

#include "core/records/verdict.h"
#include "ui/charts/layer_heat_map.h"
#include "ui/charts/share_bars.h"
#include "ui/charts/timeline.h"
#include "ui/model_line.h"
#include "ui/models/profile_tree.h"
#include "ui/pages/doctor_page.h"
#include "ui/pages/profile_charts.h"
#include "ui/pages/profile_controls.h"
#include "ui/pages/profile_page.h"
#include "ui/text.h"
#include "ui/widgets/segmented.h"
#include "ui/widgets/table_view.h"
#include "ui_support.h"

namespace kernelscope::ui {
namespace {

using namespace test;

/// Stores a decode profile with what `change` adds to it or takes away, opens it, and waits for the page.
class ProfilePageOf : public testing::Test {
protected:
    ProfilePage* opened(const std::vector<RowRecord>& records, const nlohmann::json& result = {}, const char* status = "done") {
        Store& store = *window->services().store;
        RunHeader header = store.createRun(profileHeader()).value();
        EXPECT_TRUE(store.putRows(header.id, records));
        header.result = result;
        header.status = std::string(status) == "done" ? RunStatus::done : RunStatus::cancelled;
        EXPECT_TRUE(store.updateRun(header));
        window->openRun(toQt(header.id));
        ProfilePage* page = window->profilePage();
        EXPECT_TRUE(waitFor([&] { return page->showsSaved() && page->bars()->isVisible(); }));
        return page;
    }
    static std::vector<RowRecord> tableAlone() {
        std::vector<RowRecord> records;
        for (const ProfileRow& row : profileRows(1, true)) records.push_back(recordOf(row));
        return records;
    }
    static QString sentenceWith(const ProfilePage* page, const QString& words) {
        for (const auto* label : page->findChildren<QLabel*>())
            if (label->isVisible() && label->text().contains(words)) return label->text();
        return {};
    }

    TestWindow window{kNoEngine};
};

TEST_F(ProfilePageOf, ARunWithItsTableAloneSaysWhatItLacksAndWhatToDo) {
    const ProfilePage* page = opened(tableAlone());
    EXPECT_TRUE(sentenceWith(page, "No times by layer").contains("Profile the model again"));
    EXPECT_TRUE(sentenceWith(page, "No timeline").contains("its table alone"));
    EXPECT_FALSE(page->chartsOfProfile()->heatMap()->isVisible());
}

TEST_F(ProfilePageOf, ARunThatWasCancelledSaysThatItEndedBefore) {
    EXPECT_TRUE(sentenceWith(opened(tableAlone(), {}, "cancelled"), "No timeline").contains("ended before"));
}

TEST_F(ProfilePageOf, ACompleteRunHasNoSuchSentence) {
    window->openRun(toQt(storeProfile(*window->services().store, "Saved-model", 1, true)));
    ProfilePage* page = window->profilePage();
    ASSERT_TRUE(waitFor([&] { return page->showsSaved() && page->chartsOfProfile()->heatMap()->isVisible(); }));
    EXPECT_TRUE(sentenceWith(page, "No times by layer").isEmpty());
    EXPECT_TRUE(sentenceWith(page, "No timeline").isEmpty());
}

TEST_F(ProfilePageOf, ARowOfTheTreeThatIsPointedAtLightsUpInTheCharts) {
    window->openRun(toQt(storeProfile(*window->services().store, "Saved-model", 1, true)));
    ProfilePage* page = window->profilePage();
    ASSERT_TRUE(waitFor([&] { return page->showsSaved() && page->chartsOfProfile()->timeline()->isVisible(); }));
    const QImage before = page->bars()->grab().toImage(), heatBefore = page->chartsOfProfile()->heatMap()->grab().toImage();
    TableView* table = page->table();
    const QPoint second = table->visualRect(table->model()->index(1, 0)).center();
    QMouseEvent move(QEvent::MouseMove, QPointF(second), table->viewport()->mapToGlobal(QPointF(second)), Qt::NoButton, Qt::NoButton, {});
    QCoreApplication::sendEvent(table->viewport(), &move);
    EXPECT_NE(page->bars()->grab().toImage(), before);
    EXPECT_NE(page->chartsOfProfile()->heatMap()->grab().toImage(), heatBefore);
    QEvent leave(QEvent::Leave);
    QCoreApplication::sendEvent(table->viewport(), &leave);
    EXPECT_EQ(page->bars()->grab().toImage(), before);
}

TEST_F(ProfilePageOf, AStretchBrushedInTheTimelineFiltersTheTree) {
    std::vector<RowRecord> records;
    for (const ProfileRow& row : leafRows(4)) records.push_back(recordOf(row));
    int event = 0;
    for (const ProfileEventRow& row : eventRows(4, 3)) records.push_back({"profile_event", std::to_string(event++), valuesOf(row)});
    ProfilePage* page = opened(records);
    const int before = page->tree()->rowCount();
    Timeline* timeline = page->chartsOfProfile()->timeline();
    ASSERT_TRUE(timeline->isVisible());
    emit timeline->selected(0, 12);  // the embedding and the first norm
    EXPECT_LT(page->tree()->rowCount(), before);
    EXPECT_EQ(page->tree()->index(0, 0).data().toString(), "embed_tokens");
    QPushButton* chip = nullptr;
    for (auto* button : page->findChildren<QPushButton*>())
        if (button->isVisible() && button->text().contains("µs")) chip = button;
    ASSERT_NE(chip, nullptr);
    QTest::mouseClick(chip, Qt::LeftButton);
    EXPECT_EQ(page->tree()->rowCount(), before);
}

TEST_F(ProfilePageOf, TheCrossCheckOfARunIsATableOfItsOwn) {
    std::vector<RowRecord> records = tableAlone();
    CrossCheckRow row{.phase = "decode", .name = "RMSNorm", .kernels = 392, .traceUs = 517.07, .kernelUs = 533.12, .errorPct = 3.1};
    records.push_back({"profile_cross_check", "decode/RMSNorm", valuesOf(row)});
    ProfilePage* page = opened(records);
    ASSERT_TRUE(page->tables()->isVisible());
    page->tables()->setValue("check");
    emit page->tables()->changed("check");
    ASSERT_TRUE(page->crossCheckTable()->isVisible());
    EXPECT_TRUE(page->crossCheckTable()->tableText(TableView::Format::tsv).contains("RMSNorm\t392\t517.07"));
    EXPECT_FALSE(page->table()->isVisible());
}

TEST_F(ProfilePageOf, WithoutACrossCheckThereIsOneTable) { EXPECT_FALSE(opened(tableAlone())->tables()->isVisible()); }

TEST_F(ProfilePageOf, TheHeadlineAndTheBarsUseTheWorkAndRatesOfTheRun) {
    nlohmann::json result;
    PassWork work{1e12, 1e14, {{"Attention", 1e9, 1e9}, {"RMSNorm", 100e6, 0}}};  // 1 ms and 0.1 ms
    keepWork(result, "decode", work);
    std::vector<RowRecord> records;
    for (const ProfileRow& row : profileRows()) records.push_back(recordOf(row));
    const ProfilePage* page = opened(records, result);
    EXPECT_TRUE(page->headline()->text().contains("latency-bound")) << qPrintable(page->headline()->text());
    bool found = false;
    for (const ShareBar& bar : page->bars()->bars()) {
        if (bar.name == "RMSNorm") found = bar.detail.contains("Perfect kernels here: up to 1.26x");  // 1379 of 6220 us down to 100
    }
    EXPECT_TRUE(found);
}

TEST_F(ProfilePageOf, AGraphShowsNothingOfTheEagerPassesThatWarmedItUp) {
    std::vector<RowRecord> records;
    for (ProfileRow row : profileRows(1, true)) {
        if (row.name == "profiler tax") row.spanUs.reset(), row.spanSharePct.reset();
        if (row.gpuUs) row.spanUs = row.gpuUs, row.selfSpanUs = row.selfGpuUs, row.spanSharePct = row.gpuSharePct, row.gapUs = 0;
        records.push_back(recordOf(row));
    }
    int number = 0;
    for (ProfileModuleRow row : moduleRows(4)) {
        row.selfGpuUs = 1;
        records.push_back({"profile_module", std::to_string(number++), valuesOf(row)});
    }
    const auto events = eventRows(4, 3);
    for (const ProfileEventRow& row : events) records.push_back({"profile_event", std::to_string(number++), valuesOf(row)});
    const ProfilePage* page = opened(records);
    const auto shown = page->chartsOfProfile()->timeline()->between(-1, 1e9);
    EXPECT_EQ(long(shown.size()), std::count_if(events.begin(), events.end(), [](const ProfileEventRow& event) { return event.track == "kernel"; }));
    EXPECT_FALSE(page->chartsOfProfile()->heatMap()->map().types.empty()) << "GPU time, the only clock";
    for (const ShareBar& bar : page->bars()->bars()) EXPECT_FALSE(bar.gpuShare) << "one bar a type: " << qPrintable(bar.name);
    EXPECT_FALSE(sentenceWith(page, "Random weights").contains("passes")) << "replays are no passes";
    EXPECT_FALSE(sentenceWith(page, "perfect").contains("by GPU time")) << qPrintable(sentenceWith(page, "perfect"));
}

TEST_F(ProfilePageOf, TheBarOfALayerFiltersTheTableToIt) {
    std::vector<RowRecord> records;
    for (int layer = 0; layer < 4; ++layer)
        records.push_back(recordOf({.phase = "decode", .level = "block", .name = "model.layers." + std::to_string(layer), .spanUs = 100, .selfSpanUs = 100, .spanSharePct = 25}));
    records.push_back(recordOf({.phase = "decode", .level = "block", .name = "total", .type = "total", .spanUs = 400}));
    ProfilePage* page = opened(records);
    emit page->bars()->clicked("model.layers.2");
    ASSERT_EQ(page->tree()->rowCount(), 1);
    EXPECT_EQ(page->tree()->index(0, 0).data().toString(), "model.layers.2");
    emit page->bars()->clicked("model.layers.2");
    EXPECT_EQ(page->tree()->rowCount(), 5);
}

TEST_F(ProfilePageOf, ALongNoteDoesNotMakeTheTableScrollSideways) {
    std::vector<RowRecord> records;
    for (ProfileRow row : profileRows(1, true)) {
        if (row.name == "total") row.note = "first pass 61234.7 us; gpu time: marked graph; and a reason that is longer than anybody reads";
        records.push_back(recordOf(row));
    }
    window->resize(1280, 800);
    const ProfilePage* page = opened(records);
    EXPECT_TRUE(waitFor([&] { return page->table()->horizontalScrollBar()->maximum() == 0; }, 2000)) << page->table()->horizontalScrollBar()->maximum();
}

TEST_F(ProfilePageOf, WhatDoctorFindsAboutTheDriversTraceIsSaidByTheCrossCheckButton) {
    const QPushButton* button = window->profilePage()->controls()->crossCheck();
    ASSERT_TRUE(button->isEnabled());
    DoctorRow row{.check = "CUPTI", .status = "unavailable", .finding = "CUPTI_ERROR_INVALID_DEVICE: this GPU is not supported"};
    emit window->doctorPage()->examined({row});
    EXPECT_FALSE(button->isEnabled());
    EXPECT_TRUE(button->toolTip().contains("not supported")) << qPrintable(button->toolTip());
    row.status = "ok";
    emit window->doctorPage()->examined({row});
    EXPECT_TRUE(button->isEnabled());
}

TEST(ProfileControls, HoldTheBatchAndShowThatOfASavedRun) {
    ProfileControls controls;
    EXPECT_EQ(controls.settings()["batch"], 1);
    controls.batch()->setValue(8);
    EXPECT_EQ(controls.settings()["batch"], 8);
    controls.show({{"batch", 4}});
    EXPECT_EQ(controls.settings()["batch"], 4);
}

TEST(ProfileControls, TheCrossCheckIsThereOnlyWhereItCanWorkAndSaysWhyNot) {
    ProfileControls controls;
    QPushButton* button = controls.crossCheck();
    EXPECT_TRUE(button->isEnabled());
    EXPECT_FALSE(controls.settings().contains("cross_check"));
    button->setChecked(true);
    EXPECT_EQ(controls.settings()["cross_check"], true);
    controls.setTraceProblem("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES: the driver lets only administrators trace");
    EXPECT_FALSE(button->isEnabled());
    EXPECT_TRUE(button->toolTip().contains("administrators"));
    EXPECT_FALSE(controls.settings().contains("cross_check"));
    controls.setTraceProblem({});
    controls.setGpu(false);
    EXPECT_FALSE(button->isEnabled());
    EXPECT_TRUE(button->toolTip().contains("Needs a GPU"));
    controls.setGpu(true);
    EXPECT_TRUE(button->isEnabled());
}

}  // namespace
}  // namespace kernelscope::ui
