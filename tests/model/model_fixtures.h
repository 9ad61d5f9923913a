#pragma once
// What the tests of the model share: the tiny checkpoints with the reference implementation's answers, and models made
// on the spot.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "core/model/config.h"
#include "core/model/qwen2.h"

namespace kernelscope::test {

/// A tiny checkpoint with the right answers.
struct Reference {
    std::filesystem::path folder;
    std::vector<std::int64_t> promptIds, greedyIds;
    at::Tensor promptLogits;  ///< float32 [prompt, vocab]
    at::Tensor stepLogits;    ///< float32 [generated, vocab]
};
Reference reference(const std::string& name);
inline const std::vector<std::string> kReferenceNames{"tiny-tied-f32", "tiny-untied-bf16-sharded"};

/// tests/fixtures: $KERNELSCOPE_FIXTURES, else below the current folder, else where the tests were built.
std::filesystem::path fixtures();

/// Fail the test and return null when that does not work.
std::unique_ptr<Qwen2Model> loadModel(const std::filesystem::path& folder, at::Device device, at::ScalarType dtype = at::kFloat);
std::unique_ptr<Qwen2Model> randomModel(const ModelConfig& config, at::ScalarType dtype = at::kFloat, std::int64_t seed = 1,
                                        at::Device device = at::kCPU);

/// Small and quick, with the given heads; vocabulary 97.
ModelConfig smallConfig(std::int64_t heads, std::int64_t kvHeads, std::int64_t headDim = 16, std::int64_t layers = 2);

/// int64 [rows, n] on the device, below `vocab`.
at::Tensor someTokens(std::int64_t rows, std::int64_t n, std::int64_t vocab, std::int64_t seed = 0, at::Device device = at::kCPU);

/// max |a - b| / max |b|
double relativeError(const at::Tensor& a, const at::Tensor& b);

/// The CUDA device, when there is one.
bool haveCuda();

}  // namespace kernelscope::test
