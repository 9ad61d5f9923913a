#pragma once

#include <algorithm>
#include <vector>

#include "core/device/border_clock.h"

namespace kernelscope::test {

/// A clock whose time the test sets.
class ScriptedClock final : public BorderClock {
public:
    double nowUs = 0;
    double markCostUs = 0;  ///< what each instant takes of that time
    std::vector<double> marks;
    std::size_t made = 0;  ///< marks that there were at once: what a real clock makes once and uses again
    void reset() override { marks.clear(); }
    int mark() override {
        marks.push_back(nowUs);
        nowUs += markCostUs;
        made = std::max(made, marks.size());
        return static_cast<int>(marks.size()) - 1;
    }
    void wait() override {}
    double betweenUs(int a, int b) const override { return marks.at(static_cast<std::size_t>(b)) - marks.at(static_cast<std::size_t>(a)); }
};

}  // namespace kernelscope::test
