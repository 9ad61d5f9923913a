#include "core/measure/span_round.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace kernelscope {
namespace {

constexpr int kTurns = 3;

int layersOf(const std::vector<ModuleInfo>& modules) {
    int last = -1;
    for (const ModuleInfo& module : modules) last = std::max(last, module.layer);
    return last + 1;
}

int timedLayersOf(const std::vector<ModuleInfo>& modules, ProfileLevel level) {
    std::vector<ModuleInfo> timed;
    std::copy_if(modules.begin(), modules.end(), std::back_inserter(timed), [level](const ModuleInfo& module) { return isTimedAt(level, module); });
    return layersOf(timed);
}

/// What of a pass belongs to layers with borders (the gaps at their ends included, which no other pass of the round sees) and to layers without.
struct Stretches {
    double withBordersUs = 0, withoutUs = 0;
};

Stretches stretchesOf(const PassSpans& pass, const std::vector<ModuleInfo>& modules, int layers) {
    Stretches sums;
    double endUs = 0;       // of what has been counted
    int layer = -1;         // the last one seen
    bool inLayers = false;  // whether that was the last visit
    const auto gap = [&](double us, int next, bool nextIsLayer) {
        if (next > layer + 1) sums.withoutUs += us;
        else if (inLayers || nextIsLayer) sums.withBordersUs += us;
    };
    for (const Visit& visit : pass.visits) {
        if (visit.beginUs + visit.spanUs <= endUs) continue;  // inside the one before
        const int at = modules[static_cast<std::size_t>(visit.module)].layer;
        const bool isLayer = at >= 0;
        const int behindLayers = inLayers ? layers : layer + 1;
        gap(visit.beginUs - endUs, isLayer ? at : behindLayers, isLayer);
        if (isLayer) {
            sums.withBordersUs += visit.spanUs;
            layer = at;
        } else if (inLayers) {
            layer = layers - 1;
        }
        inLayers = isLayer;
        endUs = visit.beginUs + visit.spanUs;
    }
    gap(pass.totalUs - endUs, inLayers ? layers : layer + 1, false);
    return sums;
}

}  // namespace

int turnsOf(const std::vector<ModuleInfo>& modules, ProfileLevel level, bool onQueue) {
    return onQueue && timedLayersOf(modules, level) >= kTurns ? kTurns : 1;
}

PassSpans joinRound(const std::vector<PassSpans>& round, const std::vector<ModuleInfo>& modules) {
    if (round.size() == 1) return round.front();
    const auto turns = static_cast<double>(round.size());
    const int layers = layersOf(modules);
    PassSpans whole;
    double putTogetherUs = 0;
    std::map<std::pair<int, int>, std::size_t> besideLayers;  // module and which time in its pass -> visit
    for (const PassSpans& pass : round) {
        const Stretches stretches = stretchesOf(pass, modules, layers);
        putTogetherUs += stretches.withBordersUs + (pass.totalUs - stretches.withBordersUs - stretches.withoutUs) / turns;
        whole.totalUs += pass.totalUs / turns;
        std::map<int, int> times;
        for (const Visit& visit : pass.visits) {
            if (modules[static_cast<std::size_t>(visit.module)].layer >= 0) {
                whole.visits.push_back(visit);
                continue;
            }
            const auto [it, isNew] = besideLayers.emplace(std::pair(visit.module, times[visit.module]++), whole.visits.size());
            if (isNew) whole.visits.push_back({visit.module, visit.beginUs, 0, 0, 0, 0, visit.borders, visit.selfBorders});
            Visit& mean = whole.visits[it->second];
            mean.spanUs += visit.spanUs / turns;
            mean.selfUs += visit.selfUs / turns;
        }
    }
    if (putTogetherUs <= 0) return whole;
    for (Visit& visit : whole.visits) {
        visit.spanUs *= whole.totalUs / putTogetherUs;
        visit.selfUs *= whole.totalUs / putTogetherUs;
    }
    return whole;
}

}  // namespace kernelscope
