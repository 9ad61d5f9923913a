#pragma once

#include <QWidget>

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

    void showBars(std::vector<ShareBar> bars, const std::string& phase, bool gpuAlone);
    void showLayers(LayerMap map);
    void showEvents(std::vector<ProfileEventRow> events);
    void setSelection(const ProfileSelection& selection);  ///< from outside: no signal

    [[nodiscard]] ShareBars* bars() const { return m_bars; }
    [[nodiscard]] LayerHeatMap* heatMap() const { return m_heatMap; }
    [[nodiscard]] Timeline* timeline() const { return m_timeline; }
    [[nodiscard]] QList<Chart*> charts() const;

signals:
    void selectionChanged(const kernelscope::ui::ProfileSelection& selection);
    void savePictureRequested(kernelscope::ui::Chart* chart);

private:
    void light(QObject* from, const QString& type, int layer);
    void choose(const QString& type, int layer);
    void brush(double beginUs, double endUs);

    Card* m_barCard;
    Card* m_heatCard;
    Card* m_timelineCard;
    ShareBars* m_bars;
    LayerHeatMap* m_heatMap;
    Timeline* m_timeline;
    Segmented* m_clock;
    ProfileSelection m_selection;
};

}  // namespace kernelscope::ui
