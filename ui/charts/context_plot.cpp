#include "ui/charts/context_plot.h"

#include <algorithm>
#include <cmath>

#include <QPainter>

#include "ui/charts/custom_plot.h"
#include "ui/charts/sparse_ticks.h"
#include "ui/text.h"
#include "ui/theme.h"

namespace kernelscope::ui {
namespace {

QString tokensLabel(double tokens) { return tokens >= 1024 && std::fmod(tokens, 1024) == 0 ? QString::number(tokens / 1024) + "k" : QString::number(tokens); }

QColor lineColor(const Theme& theme, std::size_t place, std::size_t count) {
    const double step = count < 2 ? 0 : double(place) / double(count - 1);
    return theme.dark ? blend(QColor("#ffffff"), QColor("#2f7de1"), 0.1 + 0.8 * step) : blend(QColor("#8fd3e8"), QColor("#1b2f6b"), 0.85 - 0.8 * step);
}

// Labels behind the ends of lines, moved apart where they would lie on each other.
void spread(std::vector<QCPItemText*> labels, double pitch) {
    std::sort(labels.begin(), labels.end(), [](const auto* a, const auto* b) { return a->position->value() < b->position->value(); });
    for (std::size_t i = 1; i < labels.size(); ++i) {
        const double least = labels[i - 1]->position->value() + pitch;
        if (labels[i]->position->value() < least) labels[i]->position->setCoords(labels[i]->position->key(), least);
    }
}

}  // namespace

ContextPlot::ContextPlot(const QString& name, const QString& unit, QWidget* parent) : Plot(name, parent), m_unit(unit) {
    auto& axes = plot();
    axes.xAxis->setScaleType(QCPAxis::stLogarithmic);
    axes.xAxis->setLabel("tokens in the context");
    axes.yAxis->setLabel(unit);
    axes.yAxis->setNumberFormat("g");
    axes.yAxis->setNumberPrecision(3);
    setLines({});
}

void ContextPlot::setLines(std::vector<ContextLine> lines) {
    m_lines = std::move(lines);
    auto& axes = plot();
    axes.clearPlottables();
    axes.clearItems();
    auto ticks = QSharedPointer<SparseTicks>::create();
    double most = 0, first = 1e18, last = 1;
    QStringList sentence;
    for (const ContextLine& line : m_lines) {
        QVector<double> x, y, bandX, low, high;
        for (const ContextPoint& point : line.points) {
            x << point.context;
            y << point.value;
            if (point.low && point.high) {
                bandX << point.context;
                low << *point.low;
                high << *point.high;
            }
            most = std::max({most, point.value, std::min(point.high.value_or(0), point.value * 1.5)});
            first = std::min(first, point.context);
            last = std::max(last, point.context);
            ticks->addTick(point.context, tokensLabel(point.context));
        }
        QCPGraph* lower = axes.addGraph();
        QCPGraph* upper = axes.addGraph();
        QCPGraph* middle = axes.addGraph();
        lower->setData(bandX, low, true);
        upper->setData(bandX, high, true);
        upper->setChannelFillGraph(lower);
        middle->setData(x, y, true);
        auto* label = new QCPItemText(&axes);
        label->setPositionAlignment(Qt::AlignLeft | Qt::AlignVCenter);
        label->setText(QString("  batch %1").arg(line.batch));
        label->setClipToAxisRect(false);
        label->position->setCoords(line.points.back().context, line.points.back().value);
        sentence << QString("batch %1: %2 %3 at %4 tokens").arg(line.batch).arg(figure(line.points.back().value), m_unit).arg(line.points.back().context);
    }
    setSentence(sentence.join(", "));
    if (m_lines.empty()) first = 1;
    const double room = last > first ? std::pow(last / first, 0.05) : 1.5;
    axes.xAxis->setRange(first / room, last * std::pow(room, 5.5));  // air for the labels
    axes.yAxis->setRange(0, most > 0 ? most * 1.12 : 1);
    axes.xAxis->setTicker(ticks);
    update();
}

void ContextPlot::applyColors() const {
    Plot::applyColors();
    const Theme& theme = Theme::of(this);
    auto& axes = plot();
    QFont small = font();
    small.setPointSizeF(font().pointSizeF() * 0.9);
    std::vector<QCPItemText*> labels;
    for (std::size_t i = 0; i < m_lines.size(); ++i) {
        const QColor color = lineColor(theme, i, m_lines.size());
        QColor band = color;
        band.setAlphaF(0.2f);
        axes.graph(int(i) * 3)->setPen(Qt::NoPen);
        axes.graph(int(i) * 3 + 1)->setPen(Qt::NoPen);
        axes.graph(int(i) * 3 + 1)->setBrush(band);
        axes.graph(int(i) * 3 + 2)->setPen(QPen(color, 1.8));
        axes.graph(int(i) * 3 + 2)->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssDisc, QPen(color), color, 5));
        auto* label = qobject_cast<QCPItemText*>(axes.item(int(i)));
        label->setFont(small);
        label->setColor(theme.dark ? color : blend(color, theme.text, 0.6));
        label->position->setCoords(m_lines[i].points.back().context, m_lines[i].points.back().value);
        labels.push_back(label);
    }
    spread(std::move(labels), axes.yAxis->range().size() * QFontMetricsF(small).height() / std::max(60.0, height() * 0.8));
}

ShareColumns::ShareColumns(QWidget* parent) : Chart("Shares against the context", parent) {}

void ShareColumns::setColumns(std::vector<ShareColumn> columns) {
    m_columns = std::move(columns);
    QStringList parts;
    for (const ShareColumn& column : m_columns) {
        QStringList shares;
        for (const auto& [type, share] : column.parts) if (share >= 1) shares << QString("%1 %2 %").arg(toQt(type), number(share, 0));
        parts << QString("%1 tokens: %2").arg(column.context).arg(shares.join(", "));
    }
    setSentence(parts.join("; "));
    update();
}

void ShareColumns::sayWhyEmpty(const QString& why) {
    if (why == m_whyEmpty) return;
    m_whyEmpty = why;
    if (m_columns.empty()) setSentence(why);
    update();
}

QSize ShareColumns::sizeHint() const { return {fontMetrics().height() * 26, fontMetrics().height() * 18}; }
QSize ShareColumns::minimumSizeHint() const { return {fontMetrics().height() * 16, fontMetrics().height() * 9}; }

void ShareColumns::draw(QPainter& painter, const QRectF& whole) const {
    const Theme& theme = Theme::of(this);
    const QRectF area = inset(whole, 3);
    const double line = fontMetrics().height();
    if (m_columns.empty()) {
        painter.setPen(theme.muted);
        painter.drawText(area, Qt::AlignCenter | Qt::TextWordWrap, m_whyEmpty);
        return;
    }
    double names = 0;
    for (const auto& [type, share] : m_columns.back().parts) if (share >= 0.5) names = std::max(names, painter.fontMetrics().horizontalAdvance(toQt(type)) * 1.0);
    const QRectF plot(area.left(), area.top(), area.width() - names - line, area.height() - line * 2.3);
    const double pitch = std::min(plot.width() / double(m_columns.size()), line * 7), width = pitch * 0.82;
    // The last column's parts are named beside it, none on another: from below, and then down again from the top.
    std::vector<double> places;
    {
        double y = plot.bottom(), least = plot.bottom();
        for (const auto& [type, share] : m_columns.back().parts) {
            const double height = plot.height() * share / 100;
            if (share >= 0.5) places.push_back(least = std::min(least - line, y - height / 2 - line / 2));
            y -= height;
        }
        double most = area.top() - line;
        for (auto place = places.rbegin(); place != places.rend(); ++place) most = *place = std::max(*place, most + line);
    }
    std::size_t named = 0;
    for (std::size_t i = 0; i < m_columns.size(); ++i) {
        double y = plot.bottom();
        const double left = plot.left() + double(i) * pitch;
        for (const auto& [type, share] : m_columns[i].parts) {
            const double height = plot.height() * share / 100;
            const QColor color = type == "unattributed" ? unattributedColor(theme) : typeColor(toQt(type));
            const QRectF at(left, y - height, width, height);
            painter.setPen(QPen(theme.surface, 1));
            painter.setBrush(color);
            painter.drawRect(at);
            if (height > line * 1.05) {
                painter.setPen(readableOn(color));
                drawTabular(painter, at, Qt::AlignHCenter, number(share, 0));
            }
            if (i + 1 == m_columns.size() && share >= 0.5) {
                painter.setPen(theme.text);
                painter.drawText(QRectF(left + width + line * 0.5, places[named++], names + line, line), Qt::AlignLeft | Qt::AlignVCenter, toQt(type));
            }
            y -= height;
        }
        painter.setPen(theme.muted);
        drawTabular(painter, QRectF(left, plot.bottom() + line * 0.15, width, line), Qt::AlignHCenter, tokensLabel(double(m_columns[i].context)));
    }
    // Below the middle of the columns, as far as their few allow: the words may be wider than they are.
    const QString words = "tokens in the context, shares in %";
    const double wide = painter.fontMetrics().horizontalAdvance(words), middle = plot.left() + pitch * double(m_columns.size()) / 2;
    const double begin = std::max(area.left(), std::min(middle - wide / 2, area.right() - wide));
    painter.drawText(QRectF(begin, plot.bottom() + line * 1.2, area.right() - begin, line), Qt::AlignLeft | Qt::AlignTop, words);
}

}  // namespace kernelscope::ui
