// Where errors are said to be: a mistake is put in one place, and the map has to show that place.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include <ATen/ATen.h>

#include "core/engine/job.h"
#include "core/engine/model_setup.h"
#include "core/measure/error_map.h"
#include "core/measure/memory_need.h"

namespace kernelscope::test {
namespace {

std::vector<double> numbers(const std::string& text) {
    std::vector<double> values;
    std::istringstream in(text);
    for (std::string word; in >> word;) values.push_back(word == "inf" ? std::numeric_limits<double>::infinity() : std::stod(word));
    return values;
}

/// 40 rows of 100 ones in float16, right everywhere but where `spoil` says otherwise.
ErrorMapRow mapOf(const std::function<void(at::Tensor&)>& spoil) {
    const at::Tensor native = at::ones({40, 100}, at::kHalf);
    at::Tensor value = native.clone();
    spoil(value);
    ErrorMap map(40, 100);
    // In two chunks, as large results come.
    for (const std::int64_t first : {0, 25}) {
        const std::int64_t rows = first == 0 ? 25 : 15;
        const at::Tensor part = native.narrow(0, first, rows).contiguous();
        map.add({value.narrow(0, first, rows).contiguous(), part, part, part.to(at::kDouble), {}, 0}, first, rows);
    }
    return map.row();
}

TEST(ErrorMap, ShowsTheBinTheElementAndItsThreeValues) {
    // At 1 the last place of float16 is 2^-10: four of them.
    const ErrorMapRow map = mapOf([](at::Tensor& value) { value[33][71] = 1 + 4.0 / 1024; });
    EXPECT_EQ(map.rowBins, 16);
    EXPECT_EQ(map.columnBins, 32);
    const std::vector<double> ulp = numbers(map.ulp);
    ASSERT_EQ(ulp.size(), 16U * 32U);
    for (std::size_t i = 0; i < ulp.size(); ++i) EXPECT_EQ(ulp[i], i == 33 * 16 / 40 * 32 + 71 * 32 / 100 ? 4 : 0) << i;
    EXPECT_EQ(map.worstRow, 33);
    EXPECT_EQ(map.worstColumn, 71);
    EXPECT_EQ(map.got, 1 + 4.0 / 1024);
    EXPECT_EQ(map.native, 1);
    EXPECT_EQ(map.exact, 1);
    EXPECT_EQ(map.histogram, "3999 0 0 0 0 1 0 0") << "one element of at most 4 units";
    EXPECT_EQ(map.nativeHistogram, "4000 0 0 0 0 0 0 0");
}

TEST(ErrorMap, ANanWhereNativeHasANumberIsBeyondEveryScale) {
    const ErrorMapRow map = mapOf([](at::Tensor& value) { value[0][0] = std::nan(""); });
    EXPECT_TRUE(std::isinf(numbers(map.ulp).front()));
    EXPECT_EQ(map.worstRow, 0);
    EXPECT_EQ(map.histogram, "3999 0 0 0 0 0 0 1");
}

TEST(ErrorMap, OfSmallResultsEveryElementHasItsBin) {
    const at::Tensor ones = at::ones({2, 3}, at::kFloat);
    ErrorMap map(2, 3);
    map.add({ones, ones, ones, ones.to(at::kDouble), {}, 0}, 0, 2);
    EXPECT_EQ(map.row().rowBins, 2);
    EXPECT_EQ(map.row().columnBins, 3);
    EXPECT_EQ(map.row().ulp, "0 0 0 0 0 0");
}

TEST(DefaultGrid, HoldsTheSizesThatBrokeOtherKernels) {
    ModelHolder models;
    JobRequest request;
    request.kind = "validate";
    request.model = "qwen2.5-0.5b";
    request.device = "cpu";
    const Result<JobStarted> started = makeValidateJob(request)->prepare(models);
    ASSERT_TRUE(started) << started.error().message;
    EXPECT_EQ(started->settings["hidden"], (nlohmann::json{896, 769, 3584, 5120})) << "misaligned at 3584, odd at 769, right at one size only";
    EXPECT_EQ(started->settings["rows"], (nlohmann::json{1, 2, 7, 33, 257, 4096})) << "right up to 512 rows only";
}

TEST(MemoryNeed, IsMoreThanTheOperandsAndNoMoreThanAFewTimesThem) {
    const OperatorTable operators = builtinOperators();
    for (const auto& op : operators.all()) {
        const OperatorShape shape = shapeFor(896, 1 << 16);
        const double bytes = op->work(shape, at::kHalf).bytes;
        EXPECT_GT(static_cast<double>(bytesToValidate(*op, shape, at::kHalf)), 2 * bytes) << op->name();
        EXPECT_LT(static_cast<double>(bytesToValidate(*op, shape, at::kHalf)), 20 * bytes) << op->name();
        EXPECT_GT(static_cast<double>(bytesToTime(*op, shape, at::kHalf, 3)), 4 * bytes) << op->name();
    }
    const Result<Device> cpu = openDevice("cpu");
    ASSERT_TRUE(cpu);
    EXPECT_FALSE(misfit(1 << 20, *cpu));
    const std::optional<std::string> words = misfit(std::int64_t{1} << 60, *cpu);
    ASSERT_TRUE(words);
    EXPECT_NE(words->find("1073741824.0 GiB (1152921504606846976 bytes) needed"), std::string::npos) << *words;
}

}  // namespace
}  // namespace kernelscope::test
