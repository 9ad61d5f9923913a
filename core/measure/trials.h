#pragma once
// How a case lays out and runs what it checks.

#include <string_view>
#include <vector>

#include "core/measure/execution.h"
#include "core/measure/guarded_buffer.h"

namespace kernelscope {

/// How operands lie in one trial of a case.
struct Trial {
    Layout rows, outputs;
    std::int64_t sharedOffset = 0;
    Execution execution = Execution::plain;
    bool aliased = false;  ///< results over inputs
    bool firstInputOnly = false;  ///< the layout of `rows` for the first input, the others plain
    int calls = 1;
};

/// Those of a case: all of them have to pass.
std::vector<Trial> trialsOf(std::string_view name);
Content contentOf(std::string_view name);

}  // namespace kernelscope
