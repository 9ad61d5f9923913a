#pragma once

#include <QWidget>

class QLabel;

#include "core/records/rows.h"
#include "ui/charts/chart.h"
#include "ui/models/profile_summary.h"

namespace kernelscope::ui {

class Card;
class LayerHeatMap;
class Segmented;
class ShareBars;
class Timeline;

/// Bars, layer heat map and timeline of a profile. What is pointed at in one lights up in the others.
class ProfileCharts : public QWidget {
    Q_OBJECT
public:
    explicit ProfileCharts(QWidget* parent = nullptr);

    enum class Clock { spans, kernels, graph };  ///< whose time the wide bars are: of spans; of kernels, which have no span; of one graph, where both are one
    void showBars(std::vector<ShareBar> bars, const std::string& phase, Clock clock);
    void showLayers(LayerMap map);
    void showEvents(std::vector<ProfileEventRow> events);
    void setSelection(const ProfileSelection& selection);  ///< from outside: no signal
    /// Where a finished run has no times by layer or no timeline, a sentence stands in their place; a running one gets them at its end.
    void sayWhatIsMissing(bool live, bool ended);
    /// Lights up what is of this type and layer (below 0: every one) in all charts but the one it comes from.
    void light(QObject* from, const QString& type, int layer);

    [[nodiscard]] ShareBars* bars() const { return m_bars; }
    [[nodiscard]] LayerHeatMap* heatMap() const { return m_heatMap; }
    [[nodiscard]] Timeline* timeline() const { return m_timeline; }
    [[nodiscard]] QList<Chart*> charts() const;

signals:
    void selectionChanged(const kernelscope::ui::ProfileSelection& selection);
    void savePictureRequested(kernelscope::ui::Chart* chart);

private:
    [[nodiscard]] QString barOf(const QString& type, int layer) const;
    void choose(const QString& type, int layer);
    void brush(double beginUs, double endUs);

    Card* m_barCard;
    Card* m_heatCard;
    Card* m_timelineCard;
    ShareBars* m_bars;
    LayerHeatMap* m_heatMap;
    Timeline* m_timeline;
    Segmented* m_clock;
    QLabel* m_noLayers;
    QLabel* m_noTimeline;
    QString m_wantedClock = "span";
    ProfileSelection m_selection;
};

}  // namespace kernelscope::ui
