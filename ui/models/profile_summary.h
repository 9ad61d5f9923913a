#pragma once
// What the Profile page draws, computed from rows: no widgets here.

#include <set>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <QString>

#include "core/records/rows.h"
#include "core/records/run.h"
#include "ui/charts/share_bars.h"

namespace kernelscope::ui {

/// Rows of one phase, in order.
std::vector<ProfileRow> rowsOfPhase(std::span<const ProfileRow> rows, const std::string& phase);

/// One bar a module type, largest first, "unattributed" last. At levels finer than type the shares of a type are
/// added up and have no interval. `before` are the bars now on the screen: two bars change places only when one is
/// clearly larger, so that a live chart does not flicker. The tool tip says what perfect kernels of the type would buy, by the work and the rates
/// that the run's `result` holds.
std::vector<ShareBar> shareBars(std::span<const ProfileRow> phaseRows, const std::vector<ShareBar>& before, const nlohmann::json& result = {});

/// A caution where the figures of a noisy run disagree, what a perfect kernel would buy, then "Random weights · profiler tax 1.8 % (1.2 to 2.4) · first pass 61.2 ms · 50 passes · unattributed 0.9 %"
QString profileSubline(std::span<const ProfileRow> phaseRows, const RunHeader& run, bool live);

/// What to look at next: the replaceable module type with the largest share, and what perfect kernels would buy there (verdict.h), by the wall clock and by
/// GPU time.
struct NextStep {
    QString type;      ///< "RMSNorm"; empty: none is worth it
    QString op;        ///< the operator that replaces it: "rms_norm"
    double bySpan = 1;
    std::optional<double> byGpu;
};
NextStep nextStep(std::span<const ProfileRow> phaseRows, const nlohmann::json& result = {});

/// Cells of layers x types: self times of the modules in a layer, summed by type.
struct LayerCell {
    int layer = 0;
    std::string type;
    double spanUs = 0;
    double gpuUs = 0;
};
struct LayerMap {
    std::vector<std::string> types;  ///< in the order of their share
    int layers = 0;
    std::vector<LayerCell> cells;    ///< layers x types, layer first; 0 where nothing was measured
    bool hasSpan = false, hasGpu = false;
};
/// Where no module inside a layer was timed (level block) the layer as a whole is a type of its own, without a name.
LayerMap layerMap(std::span<const ProfileModuleRow> modules, const std::string& phase);

/// Of its types those that this clock has times of.
LayerMap withTimesOf(const LayerMap& map, bool gpu);

/// A captured graph has one clock: its span is its GPU time.
bool isOneGraph(std::span<const ProfileRow> phaseRows);

/// What a click in a chart keeps of the table.
struct ProfileSelection {
    QString type;                 ///< empty: every type
    int layer = -1;               ///< below 0: every layer
    std::set<std::string> paths;  ///< empty: every module
    QString words;                ///< for the chip: "RMSNorm, layer 3"

    [[nodiscard]] bool empty() const { return type.isEmpty() && layer < 0 && paths.empty(); }
    [[nodiscard]] bool keeps(const ProfileRow& row) const;
};

/// The layer in "model.layers.12.mlp", or -1.
int layerOf(const std::string& path);

}  // namespace kernelscope::ui
