#include <gtest/gtest.h>

#include <algorithm>

#include <QImage>
#include <QPainter>
#include <QSignalSpy>
#include <QTest>

#include "ui/charts/layer_heat_map.h"
#include "ui/charts/timeline.h"
#include "ui/models/profile_summary.h"
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
