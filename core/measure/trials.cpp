#include "core/measure/trials.h"

namespace kernelscope {

std::vector<Trial> trialsOf(std::string_view name) {
    if (name == "base_offset") {
        // Aligned to the element only, then to a few elements.
        Trial odd{{1}, {1}, 1};
        Trial half{{4}, {4}, 4};
        return {odd, half};
    }
    if (name == "row_stride") return {Trial{{0, 64}, {0, 64}}, Trial{{0, 3}, {0, 3}}, Trial{{0, 64}, {0, 3}}};
    if (name == "last_stride") return {Trial{{0, 0, 2}, {}}};
    if (name == "guard_zones") return {Trial{{5, 1}, {3, 1}, 7}, Trial{{0, 7}, {2, 2}, 1}};
    Trial trial;
    trial.aliased = name == "in_place";
    trial.calls = name == "input_unchanged" ? 3 : 1;
    if (name == "side_stream") trial.execution = Execution::busyStream;
    if (name == "graph") trial.execution = Execution::captured;
    return {trial};
}

Content contentOf(std::string_view name) {
    return name == "overflow" ? Content::overflow : name == "nonfinite" ? Content::nonfinite : Content::ordinary;
}

}  // namespace kernelscope
