#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <ctime>

#include <ATen/Parallel.h>

#include "core/model/random_weights.h"
#include "tests/model/model_fixtures.h"

namespace kernelscope::test {
namespace {

// FNV-1a over the bytes.
std::uint64_t checksum(const at::Tensor& tensor) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    const auto* bytes = static_cast<const unsigned char*>(tensor.const_data_ptr());
    for (std::size_t i = 0; i < tensor.nbytes(); ++i) hash = (hash ^ bytes[i]) * 0x100000001b3U;
    return hash;
}

at::Tensor filled(std::int64_t count, at::ScalarType dtype, const char* name = "x.weight", std::uint64_t seed = 7, std::uint64_t tensor = 3) {
    at::Tensor out = at::empty({count}, dtype);
    fillRandom(out, distributionOf(name), seed, tensor);
    return out;
}

class Threads {
public:
    explicit Threads(int count) : m_before(at::get_num_threads()) { at::set_num_threads(count); }
    ~Threads() { at::set_num_threads(m_before); }

private:
    int m_before;
};

}  // namespace

TEST(RandomWeights, AreTheNumbersTheyHaveAlwaysBeen) {
    EXPECT_EQ(checksum(filled(1000, at::kFloat)), 1839981021747962903U);
    EXPECT_EQ(checksum(filled(1000, at::kBFloat16)), 504241159517532555U);
    EXPECT_EQ(checksum(filled(1000, at::kHalf)), 16631218982367551607U);
    EXPECT_EQ(checksum(filled(1000, at::kFloat, "model.norm.weight")), 6746956946430374633U);
}

TEST(RandomWeights, DoNotDependOnTheNumberOfThreads) {
    at::Tensor one, two;
    {
        const Threads threads(1);
        one = filled(1'000'003, at::kBFloat16);
    }
    {
        const Threads threads(2);
        two = filled(1'000'003, at::kBFloat16);
    }
    EXPECT_TRUE(at::equal(one, two));
}

TEST(RandomWeights, DoNotDependOnHowATensorIsCutUp) {
    const at::Tensor whole = filled(1000, at::kFloat);
    at::Tensor parts = at::empty({1000}, at::kFloat);
    fillRandom(parts.narrow(0, 0, 333), distributionOf("x.weight"), 7, 3);
    fillRandom(parts.narrow(0, 333, 667), distributionOf("x.weight"), 7, 3, 333);
    EXPECT_TRUE(at::equal(whole, parts));
    EXPECT_EQ(whole[900].item<float>(), randomValue(distributionOf("x.weight"), 7, 3, 900));
}

TEST(RandomWeights, OfA16BitTypeAreTheFloat32OnesRounded) {
    const at::Tensor wide = filled(10'000, at::kFloat);
    EXPECT_TRUE(at::equal(filled(10'000, at::kBFloat16), wide.to(at::kBFloat16)));
    EXPECT_TRUE(at::equal(filled(10'000, at::kHalf), wide.to(at::kHalf)));
}

TEST(RandomWeights, DifferByTensorAndBySeed) {
    const at::Tensor base = filled(1000, at::kFloat);
    for (const at::Tensor& other : {filled(1000, at::kFloat, "x.weight", 8, 3), filled(1000, at::kFloat, "x.weight", 7, 4)}) {
        const double correlation = ((base * other).mean() / (base.std() * other.std())).item<double>();
        EXPECT_LT(std::abs(correlation), 0.15);  // 4.7 standard deviations of 1000 independent pairs
    }
}

TEST(RandomWeights, HaveTheDistributionTheyClaim) {
    const at::Tensor matrix = filled(1 << 20, at::kFloat).to(at::kDouble);
    EXPECT_NEAR(matrix.mean().item<double>(), 0.0, 1e-4);  // 5 standard errors
    EXPECT_NEAR(matrix.std().item<double>(), 0.02, 1e-4);
    const at::Tensor norm = filled(1 << 20, at::kFloat, "model.layers.0.input_layernorm.weight").to(at::kDouble);
    EXPECT_NEAR(norm.mean().item<double>(), 1.0, 5e-4);
    EXPECT_NEAR(norm.std().item<double>(), 37837.23 / (1 << 19), 5e-4);
    EXPECT_GT(norm.min().item<double>(), 0.5);
}

TEST(RandomWeights, OfHalfABillionParametersAreReadyInSeconds) {
    const Preset* preset = findPreset("qwen2.5-0.5b");
    ASSERT_NE(preset, nullptr);
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
        const std::clock_t cpu = std::clock();
        const auto start = std::chrono::steady_clock::now();
        auto model = randomModel(preset->config, dtype);
        const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        const double spent = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
        ASSERT_TRUE(model);
        std::printf("qwen2.5-0.5b in %s: %.2f s, %.2f s of CPU time on %d threads\n", c10::toString(dtype), wall, spent, at::get_num_threads());
        RecordProperty(std::string("seconds_") + c10::toString(dtype), std::to_string(wall));
        // Five seconds on two cores, counted in CPU time so that a busy machine does not fail the test.
        EXPECT_LT(spent, 10.0);
    }
}

TEST(RandomModel, CountsItsBytes) {
    const Preset* preset = findPreset("qwen2.5-0.5b");
    ASSERT_NE(preset, nullptr);
    EXPECT_EQ(Qwen2Model::weightBytes(preset->config, at::kHalf), 2 * 494'032'768LL);
    EXPECT_EQ(Qwen2Model::weightBytes(preset->config, at::kFloat), 4 * 494'032'768LL);
    const Preset* large = findPreset("qwen2.5-7b");
    ASSERT_NE(large, nullptr);
    EXPECT_EQ(Qwen2Model::weightBytes(large->config, at::kHalf), 2 * 7'615'616'512LL);
}

TEST(RandomModel, IsTheSameForASeedAndAnotherForAnother) {
    const ModelConfig config = smallConfig(4, 2);
    auto a = randomModel(config, at::kFloat, 1), b = randomModel(config, at::kFloat, 1), c = randomModel(config, at::kFloat, 2);
    for (std::size_t i = 0; i < a->namedTensors().size(); ++i) {
        EXPECT_TRUE(at::equal(a->namedTensors()[i].second, b->namedTensors()[i].second));
        EXPECT_FALSE(at::equal(a->namedTensors()[i].second, c->namedTensors()[i].second)) << a->namedTensors()[i].first;
    }
}

}  // namespace kernelscope::test
