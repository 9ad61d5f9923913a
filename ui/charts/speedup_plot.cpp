#include "ui/charts/speedup_plot.h"

#include <algorithm>

#include "ui/charts/custom_plot.h"
#include "ui/charts/sparse_ticks.h"
#include "ui/text.h"
#include "ui/theme.h"

namespace kernelscope::ui {
namespace {

// From dark to light with the hidden size: an order, so one hue in steps, not a colour each.
QColor lineColor(const Theme& theme, std::size_t place, std::size_t count) {
    const double step = count < 2 ? 0 : double(place) / double(count - 1);
    return theme.dark ? blend(QColor("#ffffff"), QColor("#2f7de1"), 0.95 - 0.9 * step) : blend(QColor("#8fd3e8"), QColor("#1b2f6b"), 0.05 + 0.9 * step);
}

QString rowsLabel(double rows) { return rows >= 1024 ? QString::number(rows / 1024) + "k" : QString::number(rows); }

}  // namespace

SpeedupPlot::SpeedupPlot(QWidget* parent) : Plot("Speed-up over native against rows", parent) {
    auto& axes = plot();
    axes.xAxis->setScaleType(QCPAxis::stLogarithmic);
    axes.xAxis->setLabel("rows");
    axes.yAxis->setNumberFormat("f");
}

void SpeedupPlot::setLines(std::vector<SpeedupLine> lines) {
    m_lines = std::move(lines);
    auto& axes = plot();
    axes.clearPlottables();
    axes.clearItems();
    double most = 1.2, least = 0.9, first = 1e18, last = 1;
    auto ticks = QSharedPointer<SparseTicks>::create();
    QStringList sentence;
    for (const SpeedupLine& line : m_lines) {
        QVector<double> x, y, bandX, low, high;
        for (const SpeedupPoint& point : line.points) {
            x << point.rows;
            y << point.speedup;
            if (point.low && point.high) {
                bandX << point.rows;
                low << *point.low;
                high << *point.high;
            }
            // An interval without an end would leave the lines flat at the bottom: it is cut at the border.
            most = std::max({most, point.speedup, std::min(point.high.value_or(0), point.speedup * 1.5)});
            least = std::min({least, point.speedup, point.low.value_or(1)});
            first = std::min(first, point.rows);
            last = std::max(last, point.rows);
            ticks->addTick(point.rows, rowsLabel(point.rows));
        }
        QCPGraph* lower = axes.addGraph();
        QCPGraph* upper = axes.addGraph();
        QCPGraph* middle = axes.addGraph();
        lower->setData(bandX, low, true);
        upper->setData(bandX, high, true);
        middle->setData(x, y, true);
        upper->setChannelFillGraph(lower);
        if (line.points.size() == 1) middle->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssDisc, 6));
        auto* label = new QCPItemText(&axes);
        label->setPositionAlignment(Qt::AlignLeft | Qt::AlignVCenter);
        label->setText("  " + QString::number(qlonglong(line.hidden)));
        label->setClipToAxisRect(false);
        label->position->setCoords(line.points.back().rows, line.points.back().speedup);
        sentence << QString("hidden %1: %2x at %3 rows").arg(qlonglong(line.hidden)).arg(figure(line.points.back().speedup)).arg(line.points.back().rows);
    }
    setSentence(sentence.join(", "));
    auto* one = new QCPItemStraightLine(&axes);
    one->point1->setCoords(1, 1);
    one->point2->setCoords(2, 1);
    if (m_lines.empty()) first = 1;
    const double room = last > first ? std::pow(last / first, 0.04) : 1.5;
    // Air at the right for the labels of the lines.
    axes.xAxis->setRange(first / room, last * std::pow(room, 4.5));
    axes.yAxis->setRange(std::max(0.0, least - 0.12 * (most - least)), most + 0.1 * (most - least));
    axes.yAxis->setNumberPrecision(digitsFor(axes.yAxis->range().size()));
    axes.xAxis->setTicker(ticks);
    update();
}

void SpeedupPlot::applyColors() const {
    Plot::applyColors();
    const Theme& theme = Theme::of(this);
    auto& axes = plot();
    QFont small = font();
    small.setPointSizeF(font().pointSizeF() * 0.9);
    std::size_t item = 0;
    for (std::size_t i = 0; i < m_lines.size(); ++i) {
        const QColor color = lineColor(theme, i, m_lines.size());
        QColor band = color;
        band.setAlphaF(0.16f);
        axes.graph(int(i) * 3)->setPen(Qt::NoPen);
        axes.graph(int(i) * 3 + 1)->setPen(Qt::NoPen);
        axes.graph(int(i) * 3 + 1)->setBrush(band);
        axes.graph(int(i) * 3 + 2)->setPen(QPen(color, 1.8));
    }
    // Labels of lines that end close to each other are moved apart, nearest first.
    std::vector<QCPItemText*> labels;
    for (int i = 0; i < axes.itemCount(); ++i) {
        if (auto* label = qobject_cast<QCPItemText*>(axes.item(i))) {
            label->setFont(small);
            label->setColor(theme.dark ? lineColor(theme, item, m_lines.size()) : blend(lineColor(theme, item, m_lines.size()), theme.text, 0.55));
            label->position->setCoords(m_lines[item].points.back().rows, m_lines[item].points.back().speedup);
            labels.push_back(label);
            ++item;
        } else if (auto* line = qobject_cast<QCPItemStraightLine*>(axes.item(i))) {
            line->setPen(QPen(theme.muted, 1.4));
        }
    }
    std::sort(labels.begin(), labels.end(), [](const auto* a, const auto* b) { return a->position->value() < b->position->value(); });
    const double pitch = axes.yAxis->range().size() * QFontMetricsF(small).height() / std::max(60.0, height() * 0.8);
    for (std::size_t i = 1; i < labels.size(); ++i) {
        const double least = labels[i - 1]->position->value() + pitch;
        if (labels[i]->position->value() < least) labels[i]->position->setCoords(labels[i]->position->key(), least);
    }
}

}  // namespace kernelscope::ui
