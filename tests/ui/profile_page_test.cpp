// The Profile page without an engine: what its parts say to each other, and what it says when something is not there.

#include <gtest/gtest.h>

#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

#include "core/records/verdict.h"
#include "ui/charts/layer_heat_map.h"
#include "ui/charts/share_bars.h"
#include "ui/charts/timeline.h"
#include "ui/model_line.h"
#include "ui/models/profile_tree.h"
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
