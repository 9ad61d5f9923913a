// The window at the pixels of the screen: nothing is cut off in a small window, text and shapes stand out in every scheme, and at 1.5
// and 2 everything is drawn at the device's own pixels. CTest runs these once more each with QT_SCALE_FACTOR at 1.5 and 2.

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QApplication>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QStyle>
#include <QStyleOptionButton>
#include <QToolButton>

#include "ui/charts/share_bars.h"
#include "ui/charts/value_bars.h"
#include "ui/icons.h"
#include "ui/models/profile_summary.h"
#include "ui/pages/profile_page.h"
#include "ui/pages/runs_page.h"
#include "ui/theme.h"
#include "ui/widgets/elided_label.h"
#include "ui_support.h"

namespace kernelscope::ui {
namespace {

using namespace test;

double wantedScale() {
    const double factor = qEnvironmentVariable("QT_SCALE_FACTOR", "1").toDouble();
    return factor > 0 ? factor : 1;
}

QString nameOf(const QWidget* widget) {
    const auto* button = qobject_cast<const QAbstractButton*>(widget);
    const auto* label = qobject_cast<const QLabel*>(widget);
    return QString("%1 \"%2\" of %3x%4").arg(widget->metaObject()->className(), button ? button->text() : label ? label->text().left(40) : widget->accessibleName())
        .arg(widget->width()).arg(widget->height());
}

/// What would be cut off or squeezed, in words.
QStringList cutOff(const QWidget& page) {
    QStringList found;
    for (const QWidget* widget : page.findChildren<QWidget*>()) {
        if (!widget->isVisibleTo(&page) || widget->isWindow() || qobject_cast<const QLineEdit*>(widget->parentWidget())) continue;
        if (const auto* chart = qobject_cast<const Chart*>(widget); chart && (chart->width() < chart->minimumSizeHint().width() || chart->height() < chart->minimumSizeHint().height()))
            found << "squeezed: " + nameOf(widget);
        if (const auto* area = qobject_cast<const QScrollArea*>(widget); area && area->widget() && area->widget()->width() > area->viewport()->width())
            found << QString("wider than what shows it: %1 in %2").arg(area->widget()->width()).arg(area->viewport()->width());
        if (qobject_cast<const QAbstractButton*>(widget) && widget->width() < widget->minimumSizeHint().width()) found << "narrow: " + nameOf(widget);
        if (const auto* label = qobject_cast<const QLabel*>(widget); label && !label->text().isEmpty() && !qobject_cast<const ElidedLabel*>(widget)) {
            const int height = label->wordWrap() ? label->heightForWidth(label->width()) : label->sizeHint().height();
            if (!label->wordWrap() && label->sizePolicy().horizontalPolicy() != QSizePolicy::Ignored && label->width() < label->sizeHint().width()) found << "narrow: " + nameOf(widget);
            if (label->height() < height) found << "low: " + nameOf(widget);
        }
        // Its parent shows all of it, unless the parent scrolls.
        const QWidget* parent = widget->parentWidget();
        const bool scrolls = parent && (qobject_cast<const QScrollArea*>(parent->parentWidget()) || parent->parentWidget() == nullptr || qobject_cast<const QAbstractScrollArea*>(parent->parentWidget()) ||
                                        qobject_cast<const QAbstractScrollArea*>(parent));
        if (parent && !scrolls && (qobject_cast<const QAbstractButton*>(widget) || qobject_cast<const QLabel*>(widget) || qobject_cast<const Chart*>(widget)) &&
            !parent->rect().contains(widget->geometry()))
            found << "outside its parent: " + nameOf(widget);
    }
    return found;
}

/// Layouts settle in rounds of events, on a busy machine later than on an idle one.
QStringList cutOffWhenSettled(const std::function<QStringList()>& find) {
    waitFor([&] { return find().isEmpty(); }, 3'000);
    return find();
}

struct FilledWindow : TestWindow {
    FilledWindow() : TestWindow(kNoEngine) {
        Store& store = *(*this)->services().store;
        ids = {storeProfile(store, "Qwen2.5-tiny", 1, true), storeSweep(store), storeEndToEnd(store)};
        (*this)->resize(1024, 700);
    }
    void show(const std::string& id) {
        const QString before = (*this)->currentPage()->title();
        (*this)->openRun(QString::fromStdString(id));
        waitFor([&] { return (*this)->currentPage()->exportable() && (*this)->currentPage()->exportable()->header().id == id; });
        waitFor([] { return false; }, 80);  // wrapped lines settle in rounds of layout
    }
    std::vector<std::string> ids;
};

TEST(Scaled, NothingIsCutOffInASmallWindow) {
    FilledWindow window;
    for (const std::string& id : window.ids) {
        window.show(id);
        const QStringList found = cutOffWhenSettled([&] { return cutOff(*window->currentPage()); });
        EXPECT_TRUE(found.isEmpty()) << qPrintable(window->currentPage()->title() + "\n" + found.join('\n'));
    }
    for (const char* title : {"Summary", "Profile", "Kernels", "End to end", "Runs", "Doctor"}) {
        window->showPage(title);
        waitFor([] { return false; }, 50);
        const QStringList found = cutOffWhenSettled([&] { return cutOff(*window->centralWidget()); });
        EXPECT_TRUE(found.isEmpty()) << title << "\n" << qPrintable(found.join('\n'));
    }
    EXPECT_EQ(window->width(), 1024) << "and the window did not have to grow";
}

TEST(Scaled, EverythingIsDrawnAtTheDevicesPixels) {
    const double scale = wantedScale();
    ASSERT_DOUBLE_EQ(qApp->devicePixelRatio(), scale);
    FilledWindow window;
    window.show(window.ids.front());
    const QPixmap whole = window->grab();
    EXPECT_DOUBLE_EQ(whole.devicePixelRatio(), scale);
    EXPECT_EQ(whole.width(), int(std::ceil(1024 * scale)));

    // Icons come in the size of the device, none is blown up.
    int icons = 0;
    for (const QAbstractButton* button : window->findChildren<QAbstractButton*>()) {
        if (button->icon().isNull() || qobject_cast<const QLineEdit*>(button->parentWidget())) continue;  // those of a field are Qt's own
        const QPixmap pixmap = button->icon().pixmap(button->iconSize(), scale);
        EXPECT_GE(pixmap.width(), int(button->iconSize().width() * scale) - 1) << qPrintable(nameOf(button));
        ++icons;
    }
    EXPECT_GT(icons, 2);
    EXPECT_EQ(iconPixmap("ok", Qt::black, 16, scale).width(), int(16 * scale));

    // A picture blown up from half the size has pairs of equal pixels only.
    const QImage chart = window->profilePage()->bars()->grab().toImage();
    EXPECT_EQ(chart.width(), int(std::ceil(window->profilePage()->bars()->width() * scale)));
    if (scale < 2) return;
    int differing = 0;
    for (int y = 0; y < chart.height(); ++y)
        for (int x = 0; x + 1 < chart.width(); x += 2) differing += chart.pixel(x, y) != chart.pixel(x + 1, y);
    EXPECT_GT(differing, chart.width() * chart.height() / 1000) << "the chart was drawn small and blown up";
}

/// The ground of a picture (its most frequent colour) and the contrast that the pixel farthest from it has.
double inkContrast(const QImage& picture) {
    std::map<QRgb, int> counts;
    for (int y = 0; y < picture.height(); ++y)
        for (int x = 0; x < picture.width(); ++x) ++counts[picture.pixel(x, y)];
    if (counts.size() < 2) return 0;
    const QRgb ground = std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; })->first;
    double best = 0;
    for (const auto& [color, count] : counts) best = std::max(best, contrast(QColor(color), QColor(ground)));
    return best;
}

TEST(Scaled, TextStandsOutInThePixelsOfEveryScheme) {
    FilledWindow window;
    for (const Scheme scheme : {Scheme::light, Scheme::dark, Scheme::highContrast}) {
        window->setScheme(scheme);
        const double least = scheme == Scheme::highContrast ? 7 : 4.5;
        int looked = 0;
        for (const std::string& id : window.ids) {
            window.show(id);
            const QImage picture = window->grab().toImage();
            const double scale = picture.devicePixelRatio();
            for (const QWidget* widget : window->findChildren<QWidget*>()) {
                const auto* label = qobject_cast<const QLabel*>(widget);
                const auto* button = qobject_cast<const QPushButton*>(widget);
                const QString text = label ? label->text() : button ? button->text() : QString();
                if (text.size() < 4 || !widget->isVisible() || !widget->isEnabled()) continue;
                if (!QRegion(widget->rect()).subtracted(widget->visibleRegion()).isEmpty()) continue;  // scrolled out, or half so
                // Inside of the border, which may stand out while the text does not.
                const QRect inner(widget->mapTo(&*window, QPoint(4, 4)), widget->size() - QSize(8, 8));
                const QRect pixels(QPoint(int(inner.x() * scale), int(inner.y() * scale)), QSize(int(inner.width() * scale), int(inner.height() * scale)));
                if (pixels.height() < 6 || pixels.width() < 12 || !picture.rect().contains(pixels)) continue;
                // Smoothing takes a little off thin strokes; half a step is allowed for it.
                EXPECT_GE(inkContrast(picture.copy(pixels)), least * 0.9) << qPrintable(toString(scheme) + ": " + nameOf(widget));
                ++looked;
            }
        }
        EXPECT_GT(looked, 20);
    }
    window->setScheme(Scheme::light);
}

TEST(Scaled, ShapesOfChartsStandOutInThePixelsOfEveryScheme) {
    for (const Scheme scheme : {Scheme::light, Scheme::dark, Scheme::highContrast}) {
        applyTheme(*qApp, scheme, 1);
        const Theme& theme = Theme::of(QApplication::palette());
        for (const char* type : {"Attention", "MLP", "RMSNorm", "LM head", "Residual", "Embedding", "Rotary", "unattributed"})
            EXPECT_GE(contrast(edgeColor(typeColor(type), theme.surface), theme.surface), 3) << qPrintable(toString(scheme)) << " " << type;

        ShareBars chart;
        chart.resize(600, 400);
        auto bars = shareBars(profileRows(1, true), {});
        for (ShareBar& bar : bars) {
            bar.share = 50;  // all long enough to be looked at
            bar.low = bar.high = bar.gpuShare = std::nullopt;
        }
        chart.setBars(bars);
        QImage picture(chart.size() * 2, QImage::Format_RGB32);
        picture.fill(theme.surface);
        {
            QPainter painter(&picture);
            painter.setRenderHint(QPainter::Antialiasing);
            painter.scale(2, 2);
            chart.draw(painter, QRectF(QPointF(), QSizeF(chart.size())));
        }
        // Down a column through the bars: each has a colour, inside or at its edge, that stands out.
        const int column = 2 * 200;
        std::vector<double> standing;
        bool inside = false;
        double best = 0;
        for (int y = 0; y < picture.height() - 60; ++y) {
            const double now = contrast(picture.pixelColor(column, y), theme.surface);
            if (now > 1.15) {
                best = inside ? std::max(best, now) : now;
                inside = true;
            } else if (inside) {
                standing.push_back(best);
                inside = false;
            }
        }
        EXPECT_EQ(standing.size(), bars.size()) << qPrintable(toString(scheme));
        for (std::size_t i = 0; i < standing.size(); ++i) EXPECT_GE(standing[i], 2.9) << qPrintable(toString(scheme)) << ", bar " << i;
    }
    applyTheme(*qApp, Scheme::light, 1);
}

TEST(Scaled, OfLowBarsEachNameKeepsALineOfItsOwn) {
    ShareBars chart;
    chart.setBars(shareBars(profileRows(1, true), {}));
    const double line = chart.fontMetrics().height();
    EXPECT_GE(chart.minimumSizeHint().height(), line * double(chart.bars().size()) + line) << "a line a bar, and the axis";
    // Drawn at that size no two names touch: between them lies a row of pixels without ink, or the letters would run into each other.
    chart.resize(chart.minimumSizeHint());
    QImage picture(chart.size() * 2, QImage::Format_RGB32);
    picture.fill(Qt::white);
    {
        QPainter painter(&picture);
        painter.scale(2, 2);
        painter.setFont(chart.font());
        chart.draw(painter, QRectF(QPointF(), QSizeF(chart.size())));
    }
    int names = 0;
    bool ink = false;
    for (int y = 0; y < picture.height(); ++y) {
        bool row = false;
        for (int x = 0; x < 2 * int(line * 3); ++x) row |= qGray(picture.pixel(x, y)) < 160;
        if (row && !ink) ++names;
        ink = row;
    }
    EXPECT_GE(names, int(chart.bars().size()) - 1) << "names run into each other";
}

TEST(Scaled, TheStepsOfANarrowWaterfallKeepTheirWords) {
    Waterfall chart;
    std::vector<WaterfallStep> steps;
    for (const char* label : {"Native", "rms_norm", "add_rms_norm", "silu_mul", "rope", "Predicted by GPU time", "Not explained", "Measured"}) steps.push_back({label, 0, 50, true, {}, "−31.7 %"});
    chart.setSteps(steps);
    chart.resize(430, 180);
    const QImage picture = chart.grab().toImage();
    // Between two steps stays a column without letters, below the bars.
    const double scale = picture.devicePixelRatio(), pitch = 430.0 / 8;
    const QColor ground = picture.pixelColor(0, picture.height() - 1);
    for (int step = 1; step < 8; ++step) {
        int clean = 0;
        for (int dx = -3; dx <= 3; ++dx) {
            const int x = int((step * pitch + dx) * scale);
            bool empty = true;
            for (int y = picture.height() - int(30 * scale); y < picture.height(); ++y) empty &= contrast(picture.pixelColor(x, y), ground) < 1.5;
            clean += empty;
        }
        EXPECT_GT(clean, 0) << "words of steps " << step - 1 << " and " << step << " run into each other";
    }
}

}  // namespace
}  // namespace kernelscope::ui
