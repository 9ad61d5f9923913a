#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include <QImage>
#include <QPainter>
#include <QSignalSpy>
#include <QTest>

#include "ui/charts/layer_heat_map.h"
#include "ui/charts/timeline.h"
#include "ui/models/profile_summary.h"
#include "ui/pages/profile_charts.h"
#include "ui/stall_watch.h"
#include "ui_support.h"

namespace kernelscope::ui {
namespace {

using namespace test;

double paintMilliseconds(const Chart& chart) {
    QImage image(chart.size(), QImage::Format_RGB32);
    const auto before = threadCpuTime();
    QPainter painter(&image);
    chart.draw(painter, chart.rect());
    painter.end();
    return std::chrono::duration<double, std::milli>(threadCpuTime() - before).count();
}

TEST(Timeline, OfEightyLayersAndThreeThousandKernelsIsPaintedThirtyTimesASecond) {
    Timeline timeline;
    timeline.resize(1200, 140);
    timeline.setEvents(eventRows(80, 8));
    ASSERT_GT(timeline.between(0, 1e9).size(), 3500u);
    double worst = 0;
    for (const double part : {1.0, 0.3, 0.05, 0.002}) {
        timeline.setView(0, timeline.viewEnd() * part);
        double best = 1e9;
        for (int i = 0; i < 3; ++i) best = std::min(best, paintMilliseconds(timeline));
        worst = std::max(worst, best);
        timeline.setView(0, 1e12);
    }
    std::printf("a frame of the timeline takes %.1f ms at the most\n", worst);
    EXPECT_LT(worst, 33);
}

/// A 72B-shaped pass in all charts of the page at once, as a user moves about in it: each frame is an event and everything it makes dirty, painted.
class FramesOfALargePass : public testing::Test {
protected:
    FramesOfALargePass() {
        charts.resize(1300, 620);
        charts.showBars(shareBars(leafRows(80), {}), "decode", ProfileCharts::Clock::spans);
        charts.showLayers(layerMap(moduleRows(80), "decode"));
        charts.showEvents(eventRows(80, 7));
        charts.show();
        QCoreApplication::processEvents();
        image = QImage(charts.size(), QImage::Format_RGB32);
    }
    /// Milliseconds of this thread's time for the event and the picture after it.
    template <typename Interaction>
    void frame(const char* what, const Interaction& interaction) {
        const auto before = threadCpuTime();
        interaction();
        charts.render(&image);
        const double taken = std::chrono::duration<double, std::milli>(threadCpuTime() - before).count();
        frames[what].push_back(taken);
    }
    void wheel(int turn, double x, Qt::KeyboardModifiers keys = Qt::NoModifier) {
        QWheelEvent event(QPointF(x, 30), charts.timeline()->mapToGlobal(QPointF(x, 30)), {}, QPoint(0, turn), Qt::NoButton, keys, Qt::NoScrollPhase, false);
        QCoreApplication::sendEvent(charts.timeline(), &event);
    }
    void pointAt(QWidget* widget, const QPointF& at) {
        QMouseEvent event(QEvent::MouseMove, at, widget->mapToGlobal(at), Qt::NoButton, Qt::NoButton, {});
        QCoreApplication::sendEvent(widget, &event);
    }

    ProfileCharts charts;
    QImage image;
    std::map<std::string, std::vector<double>> frames;
};

TEST_F(FramesOfALargePass, EachTakesLessThanAThirtiethOfASecondWhileZoomingPanningAndPointing) {
    ASSERT_GT(charts.timeline()->between(0, 1e9).size(), 3500u) << "80 layers, about 3,000 kernels";
    for (int step = 0; step < 24; ++step) frame("zoom in", [&] { wheel(120, 300 + 20.0 * step); });
    for (int step = 0; step < 12; ++step) frame("pan", [&] { wheel(step % 2 ? -240 : 120, 500, Qt::ShiftModifier); });
    for (int step = 0; step < 24; ++step) frame("zoom out", [&] { wheel(-120, 500); });
    for (int step = 0; step < 30; ++step) {
        frame("point at the timeline", [&] { pointAt(charts.timeline(), QPointF(80 + 35.0 * step, 20 + step % 3 * 30)); });
        frame("point at the heat map", [&] { pointAt(charts.heatMap(), QPointF(60 + 9.0 * step, 20 + 12.0 * step)); });
        frame("point at the bars", [&] { pointAt(charts.bars(), QPointF(200, 10 + 12.0 * step)); });
    }
    for (auto& [what, taken] : frames) {
        std::sort(taken.begin(), taken.end());
        std::printf("%-24s %3zu frames, median %5.1f ms, slowest %5.1f ms\n", what.c_str(), taken.size(), taken[taken.size() / 2], taken.back());
        EXPECT_LT(taken.back(), 33) << what;
    }
}

TEST(Timeline, TheWheelZoomsAboutThePointerAndADoubleClickShowsEverything) {
    Timeline timeline;
    timeline.resize(800, 140);
    timeline.setEvents(eventRows(4, 0));
    timeline.show();
    const double whole = timeline.viewEnd();
    QWheelEvent wheel(QPointF(400, 30), timeline.mapToGlobal(QPointF(400, 30)), {}, QPoint(0, 480), Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(&timeline, &wheel);
    EXPECT_LT(timeline.viewEnd() - timeline.viewBegin(), whole * 0.6);
    EXPECT_GT(timeline.viewBegin(), 0);
    QTest::mouseDClick(&timeline, Qt::LeftButton, {}, QPoint(400, 30));
    EXPECT_DOUBLE_EQ(timeline.viewEnd() - timeline.viewBegin(), whole);
}

TEST(Timeline, AStretchThatIsDraggedIsSelectedAndAClickClearsIt) {
    Timeline timeline;
    timeline.resize(800, 140);
    timeline.setEvents(eventRows(4, 2));
    timeline.show();
    QSignalSpy selected(&timeline, &Timeline::selected);
    QTest::mousePress(&timeline, Qt::LeftButton, {}, QPoint(200, 30));
    QTest::mouseMove(&timeline, QPoint(300, 30));
    QMouseEvent move(QEvent::MouseMove, QPointF(400, 30), timeline.mapToGlobal(QPointF(400, 30)), Qt::NoButton, Qt::LeftButton, {});
    QCoreApplication::sendEvent(&timeline, &move);
    QTest::mouseRelease(&timeline, Qt::LeftButton, {}, QPoint(400, 30));
    ASSERT_EQ(selected.count(), 1);
    const double begin = selected[0][0].toDouble(), end = selected[0][1].toDouble();
    EXPECT_LT(begin, end);
    EXPECT_FALSE(timeline.between(begin, end).empty());
    EXPECT_LT(timeline.between(begin, end).size(), timeline.between(0, 1e9).size());
    QTest::mouseClick(&timeline, Qt::LeftButton, {}, QPoint(250, 30));
    ASSERT_EQ(selected.count(), 2);
    EXPECT_DOUBLE_EQ(selected[1][0].toDouble(), selected[1][1].toDouble());
}

TEST(LayerHeatMap, TellsTheTypeAndLayerPointedAt) {
    LayerHeatMap chart;
    chart.resize(400, 260);
    chart.setMap(layerMap(moduleRows(6), "decode"));
    chart.show();
    QSignalSpy clicked(&chart, &LayerHeatMap::clicked);
    QTest::mouseClick(&chart, Qt::LeftButton, {}, chart.cellRect(1, 4).center().toPoint());
    ASSERT_EQ(clicked.count(), 1);
    EXPECT_EQ(clicked[0][0].toString(), "MLP");
    EXPECT_EQ(clicked[0][1].toInt(), 4);
    EXPECT_TRUE(chart.accessibleDescription().contains("RMSNorm is longest in layer 5"));
}

}  // namespace
}  // namespace kernelscope::ui
