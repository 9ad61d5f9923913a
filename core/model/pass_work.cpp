#include "core/model/pass_work.h"

namespace kernelscope {

std::vector<TypeWork> passWork(const ModelConfig& config, const PassShape& shape) {
    const auto real = [](std::int64_t value) { return static_cast<double>(value); };
    const double element = real(shape.elementBytes), layers = real(config.layers), hidden = real(config.hiddenSize), inner = real(config.intermediateSize);
    const double rows = real(shape.batch) * real(shape.tokens);
    const double logitRows = shape.lastOnly ? real(shape.batch) : rows;
    const double queries = real(config.heads * config.headDim), keys = real(config.kvHeads * config.headDim);
    const double activations = rows * hidden * element;
    // Token i of n attends to what was there, to those before it and to itself.
    const double attended = real(shape.batch) * (real(shape.tokens) * real(shape.past) + real(shape.tokens) * real(shape.tokens + 1) / 2);
    const double cached = real(shape.batch) * real(shape.past + shape.tokens) * 2 * keys * element;
    const double projections = hidden * (2 * queries + 2 * keys);

    return {
        {ModuleType::embedding, 2 * activations, 0},
        {ModuleType::rotary, 2 * real(shape.tokens) * real(config.headDim) * element, 0},
        // x in, x out, the weight; square, sum, scale, weight
        {ModuleType::rmsNorm, (2 * layers + 1) * (2 * activations + hidden * element), (2 * layers + 1) * 4 * rows * hidden},
        // four projections and three biases; x in and out; new keys and values written, all of them read; scores and their sum
        {ModuleType::attention, layers * ((projections + queries + 2 * keys) * element + 2 * activations + rows * 2 * keys * element + cached),
         layers * (2 * rows * projections + 4 * queries * attended)},
        {ModuleType::mlp, layers * (3 * hidden * inner * element + 2 * activations), layers * 6 * rows * hidden * inner},
        {ModuleType::residual, 2 * layers * 3 * activations, 2 * layers * rows * hidden},
        {ModuleType::lmHead, (real(config.vocabSize) * hidden + logitRows * (hidden + real(config.vocabSize))) * element,
         2 * logitRows * hidden * real(config.vocabSize)},
    };
}

}  // namespace kernelscope
