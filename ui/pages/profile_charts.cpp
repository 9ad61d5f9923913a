#include "ui/pages/profile_charts.h"

#include <algorithm>

#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "ui/charts/layer_heat_map.h"
#include "ui/charts/share_bars.h"
#include "ui/charts/timeline.h"
#include "ui/text.h"
#include "ui/theme.h"
#include "ui/widgets/card.h"
#include "ui/widgets/segmented.h"

namespace kernelscope::ui {

ProfileCharts::ProfileCharts(QWidget* parent)
    : QWidget(parent), m_barCard(new Card("Share of a pass", this)), m_heatCard(new Card("By layer", this)),
      m_timelineCard(new Card("One pass", this)), m_bars(new ShareBars(m_barCard)), m_heatMap(new LayerHeatMap(m_heatCard)),
      m_timeline(new Timeline(m_timelineCard)), m_clock(new Segmented("Time shown", m_heatCard)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(space(this, 2));
    auto* row = new QHBoxLayout;
    row->setSpacing(space(this, 2));
    row->addWidget(m_barCard, 2);
    row->addWidget(m_heatCard, 1);
    column->addLayout(row, 1);
    column->addWidget(m_timelineCard);
    m_barCard->setBody(m_bars);
    m_heatCard->setBody(m_heatMap);
    m_timelineCard->setBody(m_timeline);
    const auto sentence = [this](Card* card) {
        auto* label = new QLabel(card);
        label->setProperty("role", "muted");
        label->setWordWrap(true);
        label->setAlignment(Qt::AlignTop | Qt::AlignLeft);
        label->hide();
        card->bodyLayout()->addWidget(label, 1);
        return label;
    };
    m_noLayers = sentence(m_heatCard);
    m_noTimeline = sentence(m_timelineCard);
    m_clock->add("Span", "span", "Wall clock, launch gaps included");
    m_clock->add("GPU", "gpu", "The GPU's own time");
    m_heatCard->addTool(m_clock);
    m_heatCard->hide();
    m_timelineCard->hide();

    connect(m_bars, &ShareBars::hovered, this, [this](const QString& bar) {
        const int layer = layerOf(fromQt(bar));  // at level block a bar is a layer
        light(m_bars, layer < 0 ? bar : QString(), layer);
    });
    connect(m_heatMap, &LayerHeatMap::hovered, this, [this](const QString& type, int layer) { light(m_heatMap, type, layer); });
    connect(m_timeline, &Timeline::hovered, this, [this](const QString& type, int layer) { light(m_timeline, type, layer); });
    connect(m_bars, &ShareBars::clicked, this, [this](const QString& bar) {
        const int layer = layerOf(fromQt(bar));
        choose(layer < 0 ? bar : QString(), layer);
    });
    connect(m_heatMap, &LayerHeatMap::clicked, this, &ProfileCharts::choose);
    connect(m_timeline, &Timeline::selected, this, &ProfileCharts::brush);
    connect(m_clock, &Segmented::changed, this, [this](const QString& clock) {
        if (m_clock->isVisibleTo(this)) m_wantedClock = clock;
        m_heatMap->setGpu(clock == "gpu");
    });
    for (Chart* chart : charts()) connect(chart, &Chart::saveRequested, this, [this, chart] { emit savePictureRequested(chart); });
}

QList<Chart*> ProfileCharts::charts() const { return {m_bars, m_heatMap, m_timeline}; }

void ProfileCharts::showBars(std::vector<ShareBar> bars, const std::string& phase, Clock clock) {
    const bool gpu = std::any_of(bars.begin(), bars.end(), [](const ShareBar& bar) { return bar.gpuShare.has_value(); });
    m_bars->setBars(std::move(bars));
    m_barCard->setTitle(phase == "prefill" ? "Share of the prefill pass" : "Share of a decode step");
    m_barCard->setHint(clock == Clock::kernels ? "of the GPU's time: kernels have no wall clock of their own"
                       : clock == Clock::graph ? "of the graph's time, 95 % interval"
                       : gpu ? "wide: wall clock, 95 % interval · thin: GPU time" : "wall clock, with its 95 % interval");
}

void ProfileCharts::showLayers(LayerMap map) {
    m_heatCard->setVisible(map.layers > 0);
    m_clock->setVisible(map.hasGpu && map.hasSpan);
    m_clock->setValue(!map.hasGpu ? "span" : !map.hasSpan ? "gpu" : m_wantedClock);  // a CPU and a graph have one clock each
    m_heatMap->setMap(std::move(map));
}

void ProfileCharts::showEvents(std::vector<ProfileEventRow> events) {
    m_timeline->setEvents(std::move(events));
    m_timelineCard->setVisible(!m_timeline->empty());
}

void ProfileCharts::sayWhatIsMissing(bool live, bool ended) {
    const QString why = ended ? QString("this run came with its table alone. Profile the model again to see %1.")
                              : QString("the run ended before it had any. Profile the model again to see %1.");
    const bool noLayers = !live && !m_heatCard->isVisibleTo(this), noTimeline = !live && m_timeline->empty();
    m_noLayers->setText("No times by layer: " + why.arg("them"));
    m_noTimeline->setText("No timeline: " + why.arg("one"));
    m_noLayers->setVisible(noLayers);
    m_noTimeline->setVisible(noTimeline);
    m_heatCard->setHint(noLayers ? "" : "stronger is longer");
    m_timelineCard->setHint(noTimeline ? "" : "wheel zooms, drag selects, double click shows all");
    m_heatMap->setVisible(!noLayers);
    m_timeline->setVisible(!noTimeline);
    if (noLayers) m_heatCard->show();
    if (noTimeline) m_timelineCard->show();
}

void ProfileCharts::setSelection(const ProfileSelection& selection) {
    m_selection = selection;
    m_bars->setChosen(barOf(selection.type, selection.layer));
    m_heatMap->setChosen(selection.type, selection.layer);
    if (selection.paths.empty()) m_timeline->clearSelection();
}

/// At level block the bar of a layer, else that of the type.
QString ProfileCharts::barOf(const QString& type, int layer) const {
    const QString whole = QString("model.layers.%1").arg(layer);
    const auto& bars = m_bars->bars();
    return layer >= 0 && std::any_of(bars.begin(), bars.end(), [&](const ShareBar& bar) { return bar.name == whole; }) ? whole : type;
}

void ProfileCharts::light(QObject* from, const QString& type, int layer) {
    if (from != m_bars) m_bars->setHighlighted(barOf(type, layer));
    if (from != m_heatMap) m_heatMap->setHighlighted(type, layer);
    if (from != m_timeline) m_timeline->setHighlighted(type, layer);
}

void ProfileCharts::choose(const QString& type, int layer) {
    ProfileSelection selection;
    if (type != m_selection.type || layer != m_selection.layer) {
        selection.type = type;
        selection.layer = layer;
        selection.words = layer < 0 ? type : type.isEmpty() ? QString("Layer %1").arg(layer) : QString("%1, layer %2").arg(type).arg(layer);
    }
    setSelection(selection);
    emit selectionChanged(selection);
}

void ProfileCharts::brush(double begin, double end) {
    ProfileSelection selection;
    if (end > begin) {
        for (const ProfileEventRow& event : m_timeline->between(begin, end)) {
            selection.paths.insert(event.path);
            selection.paths.insert(event.type);  // rows of level type are named by it
        }
        selection.words = QString("%1 to %2 µs").arg(number(begin, 0), number(end, 0));
    }
    setSelection(selection);
    emit selectionChanged(selection);
}

}  // namespace kernelscope::ui
