#include "tests/model/model_fixtures.h"

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/model/checkpoint.h"
#include "core/model/counter_hash.h"
#include "core/model/npy.h"

namespace kernelscope::test {
namespace fs = std::filesystem;

fs::path fixtures() {
    if (const char* named = std::getenv("KERNELSCOPE_FIXTURES")) return named;
    if (fs::exists("tests/fixtures/checkpoints")) return "tests/fixtures";
    return KERNELSCOPE_FIXTURES_AT_BUILD;
}

namespace {

at::Tensor matrix(const fs::path& file) {
    Result<NpyMatrix> read = readNpy(file);
    if (!read) {
        ADD_FAILURE() << read.error().message;
        return {};
    }
    return at::tensor(read->values, at::kFloat).view({read->rows, read->columns});
}

std::unique_ptr<Qwen2Model> valueOf(Result<std::unique_ptr<Qwen2Model>> model) {
    if (model) return std::move(model).value();
    ADD_FAILURE() << model.error().message;
    return nullptr;
}

}  // namespace

Reference reference(const std::string& name) {
    Reference found;
    found.folder = fixtures() / "checkpoints" / name;
    std::ifstream stream(found.folder / "expected.json");
    const nlohmann::json expected = nlohmann::json::parse(stream);
    expected.at("prompt_ids").get_to(found.promptIds);
    expected.at("greedy_ids").get_to(found.greedyIds);
    found.promptLogits = matrix(found.folder / "expected_logits.npy");
    found.stepLogits = matrix(found.folder / "expected_step_logits.npy");
    return found;
}

std::unique_ptr<Qwen2Model> loadModel(const fs::path& folder, at::Device device, at::ScalarType dtype) {
    const Result<Checkpoint> checkpoint = Checkpoint::open(folder);
    if (!checkpoint) {
        ADD_FAILURE() << checkpoint.error().message;
        return nullptr;
    }
    LoadOptions options;
    options.device = device;
    options.dtype = dtype;
    return valueOf(Qwen2Model::load(*checkpoint, options));
}

std::unique_ptr<Qwen2Model> randomModel(const ModelConfig& config, at::ScalarType dtype, std::int64_t seed, at::Device device) {
    LoadOptions options;
    options.device = device;
    options.dtype = dtype;
    options.seed = seed;
    return valueOf(Qwen2Model::random(config, options));
}

ModelConfig smallConfig(std::int64_t heads, std::int64_t kvHeads, std::int64_t headDim, std::int64_t layers) {
    ModelConfig config;
    config.name = "small";
    config.layers = layers;
    config.heads = heads;
    config.kvHeads = kvHeads;
    config.headDim = headDim;
    config.hiddenSize = heads * headDim;
    config.intermediateSize = 72;
    config.vocabSize = 97;
    config.contextLength = 256;
    config.ropeTheta = 1e4;
    config.rmsNormEps = 1e-6;
    config.tiedEmbeddings = true;
    config.eosTokenIds = {2};
    return config;
}

at::Tensor someTokens(std::int64_t rows, std::int64_t n, std::int64_t vocab, std::int64_t seed, at::Device device) {
    const std::uint64_t key = counterKey(static_cast<std::uint64_t>(seed), 99);
    std::vector<std::int64_t> ids;
    for (std::int64_t i = 0; i < rows * n; ++i) {
        ids.push_back(static_cast<std::int64_t>(counterHash(key, static_cast<std::uint64_t>(i)) % static_cast<std::uint64_t>(vocab)));
    }
    return at::tensor(ids, at::kLong).view({rows, n}).to(device);
}

double relativeError(const at::Tensor& a, const at::Tensor& b) {
    EXPECT_EQ(a.sizes(), b.sizes());
    const at::Tensor x = a.to(at::kCPU, at::kDouble), y = b.to(at::kCPU, at::kDouble);
    return ((x - y).abs().max() / y.abs().max()).item<double>();
}

bool haveCuda() { return at::hasCUDA() && at::getNumGPUs() > 0; }

}  // namespace kernelscope::test
