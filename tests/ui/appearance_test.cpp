#include <gtest/gtest.h>

#include <QApplication>
#include <QFile>
#include <QFontMetricsF>
#include <QImageReader>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "ui/charts/share_bars.h"
#include "ui/models/profile_summary.h"
#include "ui/text.h"
#include "ui/theme.h"
#include "ui_support.h"

namespace kernelscope::ui {
namespace {

using namespace test;

TEST(Theme, TextReadsWellOnEveryGroundInEveryScheme) {
    for (const Scheme scheme : {Scheme::light, Scheme::dark, Scheme::highContrast}) {
        applyTheme(*qApp, scheme, 1);
        const Theme& theme = Theme::of(QApplication::palette());
        for (const QColor& ground : {theme.window, theme.surface, theme.rail}) {
            for (const QColor& text : {theme.text, theme.muted, theme.accent, theme.good, theme.warn, theme.bad}) {
                EXPECT_GE(contrast(text, ground), 4.5) << qPrintable(toString(scheme) + " " + text.name() + " on " + ground.name());
            }
        }
        EXPECT_GE(contrast(theme.onAccent, theme.accent), 4.5) << qPrintable(toString(scheme));
        EXPECT_GE(contrast(theme.text, theme.selection), 4.5) << qPrintable(toString(scheme));
    }
    applyTheme(*qApp, Scheme::light, 1);
}

TEST(Numbers, AreGroupedWithThinSpacesAndNeverWithCommas) {
    EXPECT_EQ(number(3152.44, 1), QString::fromUtf8("3\u2009152.4"));
    EXPECT_EQ(number(-1234567, 0), QString::fromUtf8("\u22121\u2009234\u2009567"));
    EXPECT_EQ(number(999, 0), "999");
    EXPECT_EQ(number(std::nan(""), 2), "nan");
    EXPECT_EQ(figure(6.164), "6.16");
    EXPECT_EQ(duration(200), "3 min 20 s");
    EXPECT_EQ(bytes(1.5 * 1024 * 1024 * 1024), "1.5 GiB");
}

TEST(Numbers, OfEqualLengthTakeEqualWidth) {
    const QFontMetricsF metrics(QApplication::font());
    EXPECT_DOUBLE_EQ(tabularWidth(metrics, "111.1"), tabularWidth(metrics, "888.8"));
}

TEST(ShareBarsChart, PaintsADifferentPictureForDifferentShares) {
    ShareBars chart;
    chart.resize(600, 300);
    auto rows = profileRows();
    chart.setBars(shareBars(rows, {}));
    const QImage first = chart.grab().toImage();
    rows[0].spanSharePct = 60;
    chart.setBars(shareBars(rows, {}));
    EXPECT_NE(first, chart.grab().toImage());
    EXPECT_TRUE(chart.accessibleDescription().contains("Attention 60.0 %"));
}

TEST(ShareBarsChart, TellsWhichBarIsPointedAtAndClicked) {
    ShareBars chart;
    chart.resize(600, 300);
    chart.setBars(shareBars(profileRows(), {}));
    chart.show();
    QSignalSpy hovered(&chart, &ShareBars::hovered), clicked(&chart, &ShareBars::clicked);
    QTest::mouseClick(&chart, Qt::LeftButton, {}, QPoint(200, 10));
    ASSERT_EQ(clicked.count(), 1);
    EXPECT_EQ(clicked[0][0].toString(), "Attention");
    QTest::keyClick(&chart, Qt::Key_Down);
    QTest::keyClick(&chart, Qt::Key_Down);
    EXPECT_FALSE(hovered.isEmpty());
    QTest::keyClick(&chart, Qt::Key_Space);
    EXPECT_EQ(clicked.count(), 2);
}

TEST(Pictures, AreWrittenAsPngSvgAndPdf) {
    QTemporaryDir folder;
    ShareBars chart;
    chart.resize(640, 320);
    chart.setBars(shareBars(profileRows(1, true), {}));
    for (const char* name : {"a.png", "a.svg", "a.pdf"}) {
        const auto saved = savePicture(chart, folder.filePath(name));
        ASSERT_TRUE(saved.ok()) << saved.error().message;
    }
    EXPECT_EQ(QImageReader(folder.filePath("a.png")).size(), QSize(1280, 640));
    QFile svg(folder.filePath("a.svg"));
    ASSERT_TRUE(svg.open(QIODevice::ReadOnly));
    const QByteArray text = svg.readAll();
    EXPECT_TRUE(text.startsWith("<?xml")) << text.left(100).constData();
    EXPECT_TRUE(text.contains("#4477aa"));
    QFile pdf(folder.filePath("a.pdf"));
    ASSERT_TRUE(pdf.open(QIODevice::ReadOnly));
    EXPECT_TRUE(pdf.readAll().startsWith("%PDF"));
}

TEST(Pictures, OfAnUnknownFormatOrInAMissingFolderAreRefusedInWords) {
    ShareBars chart;
    chart.resize(100, 100);
    const auto format = savePicture(chart, "/tmp/a.bmp");
    ASSERT_FALSE(format.ok());
    EXPECT_NE(format.error().message.find("bmp"), std::string::npos);
    const auto folder = savePicture(chart, "/nowhere/at/all/a.png");
    ASSERT_FALSE(folder.ok());
    EXPECT_EQ(folder.error().code, ErrorCode::environment);
}

}  // namespace
}  // namespace kernelscope::ui
