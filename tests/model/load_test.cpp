// From files to weights: the same numbers, in any pair of types, in little more memory than the weights take.

#include <gtest/gtest.h>

#include <malloc.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>

#include "core/model/convert.h"
#include "tests/model/model_fixtures.h"
#include "tests/support/checkpoint_writer.h"
#include "tests/support/temporary_folder.h"

namespace kernelscope::test {
namespace {

std::string nameOf(at::ScalarType dtype) { return dtype == at::kFloat ? "float32" : dtype == at::kHalf ? "float16" : "bfloat16"; }

void save(const Qwen2Model& model, const std::filesystem::path& folder, std::size_t shards = 1) {
    std::vector<TensorToWrite> tensors;
    for (const auto& [name, tensor] : model.namedTensors()) {
        tensors.push_back({name, nameOf(model.dtype()), tensor.sizes().vec(),
                           {static_cast<const std::byte*>(tensor.const_data_ptr()), tensor.nbytes()}});
    }
    ModelConfig config = model.config();
    config.dtype = nameOf(model.dtype());
    const Result<void> written = writeCheckpoint(folder, config, tensors, shards);
    ASSERT_TRUE(written) << written.error().message;
}

at::Tensor logitsOf(Qwen2Model& model) {
    KvCache cache = model.makeCache(1, 6);
    return model.forward(someTokens(1, 6, model.config().vocabSize), cache, /*lastOnly=*/false);
}

// A figure of /proc/self/status in bytes.
std::int64_t processMemory(const std::string& key) {
    std::ifstream status("/proc/self/status");
    std::string word;
    while (status >> word) {
        std::int64_t kib = 0;
        if (word == key + ":" && status >> kib) return kib * 1024;
    }
    return -1;
}

// Starts a new peak of VmHWM at what is resident now. False where the system does not let us.
bool resetPeak() {
    std::ofstream clear("/proc/self/clear_refs");
    clear << "5" << std::flush;
    return clear.good();
}

}  // namespace

TEST(Loading, APresetWrittenAsACheckpointGivesIdenticalLogits) {
    const Preset* preset = findPreset("qwen2.5-tiny");
    ASSERT_NE(preset, nullptr);
    auto made = randomModel(preset->config);
    const TemporaryFolder folder;
    save(*made, folder.path(), 3);
    auto loaded = loadModel(folder.path(), at::kCPU);
    ASSERT_TRUE(loaded);
    EXPECT_TRUE(at::equal(logitsOf(*loaded), logitsOf(*made)));
}

TEST(Loading, ConvertsEachPairOfTypesAsTorchDoes) {
    for (const bool tied : {true, false}) {
        for (const at::ScalarType stored : {at::kFloat, at::kHalf, at::kBFloat16}) {
            ModelConfig config = smallConfig(4, 2);
            config.tiedEmbeddings = tied;
            auto made = randomModel(config, stored);
            const TemporaryFolder folder;
            save(*made, folder.path());
            for (const at::ScalarType run : {at::kFloat, at::kHalf, at::kBFloat16}) {
                auto loaded = loadModel(folder.path(), at::kCPU, run);
                ASSERT_TRUE(loaded);
                ASSERT_EQ(loaded->namedTensors().size(), made->namedTensors().size());
                for (std::size_t i = 0; i < loaded->namedTensors().size(); ++i) {
                    const auto& [name, tensor] = loaded->namedTensors()[i];
                    EXPECT_EQ(name, made->namedTensors()[i].first);
                    EXPECT_TRUE(at::equal(tensor, made->namedTensors()[i].second.to(run))) << name << " " << nameOf(stored) << " to " << nameOf(run);
                }
            }
        }
    }
}

TEST(Loading, ReadsBytesThatLieUnaligned) {
    const at::Tensor numbers = at::arange(1000, at::kFloat) * 0.37;
    for (const at::ScalarType stored : {at::kFloat, at::kHalf}) {
        const at::Tensor source = numbers.to(stored);
        std::vector<std::byte> bytes(source.nbytes() + 1);
        std::memcpy(bytes.data() + 1, source.const_data_ptr(), source.nbytes());
        const at::Tensor out = at::empty({1000}, at::kFloat);
        convertStored(std::span(bytes).subspan(1), nameOf(stored), out);
        EXPECT_TRUE(at::equal(out, source.to(at::kFloat)));
    }
}

TEST(Loading, PeaksAtLittleMoreThanTheWeights) {
    ModelConfig config = smallConfig(14, 2, 64);  // the 0.5B model's widths
    config.intermediateSize = 4864;
    config.vocabSize = 40'000;
    const TemporaryFolder folder;
    const auto folders = std::map<at::ScalarType, std::filesystem::path>{{at::kFloat, folder.path() / "wide"}, {at::kBFloat16, folder.path() / "narrow"}};
    for (const auto& [stored, path] : folders) save(*randomModel(config, stored), path);

    for (const auto& [stored, path] : folders) {
        for (const at::ScalarType run : {at::kFloat, at::kBFloat16}) {
            malloc_trim(0);  // what earlier models left in the heap would be taken up again unseen
            if (!resetPeak()) GTEST_SKIP() << "this system does not let a process reset its peak memory";
            const std::int64_t before = processMemory("VmRSS");
            auto model = loadModel(path, at::kCPU, run);
            ASSERT_TRUE(model);
            const double peak = static_cast<double>(processMemory("VmHWM") - before);
            const auto weights = static_cast<double>(Qwen2Model::weightBytes(config, run));
            std::printf("%s run as %s: peak %.1f MB for %.1f MB of weights, %.3f x\n", nameOf(stored).c_str(), nameOf(run).c_str(), peak / 1e6,
                        weights / 1e6, peak / weights);
            EXPECT_LE(peak, 1.1 * weights) << nameOf(stored) << " run as " << nameOf(run);
            EXPECT_GE(peak, 0.9 * weights) << "the measurement itself is off";
        }
    }
}

TEST(Loading, StopsWhenAsked) {
    ModelConfig config = smallConfig(14, 2, 64);
    config.vocabSize = 40'000;
    std::stop_source source;
    LoadOptions options;
    options.stop = source.get_token();
    std::vector<double> fractions;
    options.progress = [&](double fraction) {
        fractions.push_back(fraction);
        if (fraction > 0.3) source.request_stop();
    };
    const auto model = Qwen2Model::random(config, options);
    ASSERT_FALSE(model);
    EXPECT_EQ(model.error().code, ErrorCode::cancelled);
    EXPECT_LT(fractions.back(), 1.0);
}

TEST(Loading, TellsItsProgressUpToTheEnd) {
    LoadOptions options;
    std::vector<double> fractions;
    options.progress = [&](double fraction) { fractions.push_back(fraction); };
    ASSERT_TRUE(Qwen2Model::random(smallConfig(4, 2), options));
    EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
    EXPECT_DOUBLE_EQ(fractions.back(), 1.0);
}

TEST(Loading, AnswersAMissingDeviceWithAnError) {
    if (haveCuda()) GTEST_SKIP() << "there is a CUDA device here";
    LoadOptions options;
    options.device = at::Device(at::kCUDA, 0);
    const auto model = Qwen2Model::random(smallConfig(4, 2), options);
    ASSERT_FALSE(model);
    EXPECT_EQ(model.error().code, ErrorCode::environment);
}

}  // namespace kernelscope::test
