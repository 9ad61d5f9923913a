#include "core/records/statistics.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace kernelscope {
namespace {

using Samples = std::vector<double>;

/// Normal enough: the sum of twelve uniforms has variance 1.
Samples noisy(double center, double spread, std::size_t count, std::uint64_t seed) {
    SeededGenerator random(seed);
    Samples samples(count);
    for (double& sample : samples) {
        double sum = -6;
        for (int i = 0; i < 12; ++i) sum += static_cast<double>(random.next() >> 11) * 0x1p-53;
        sample = center + spread * sum;
    }
    return samples;
}

TEST(Statistics, MedianOfOddEvenOneAndNone) {
    EXPECT_EQ(median(Samples{3, 1, 2}), 2);
    EXPECT_EQ(median(Samples{4, 1, 3, 2}), 2.5);
    EXPECT_EQ(median(Samples{7}), 7);
    EXPECT_TRUE(std::isnan(median(Samples{})));
    EXPECT_TRUE(std::isnan(median(Samples{1, std::nan(""), 2})));
}

TEST(Statistics, QuantilesLieBetweenNeighbours) {
    const Samples samples{10, 20, 30, 40, 50};
    EXPECT_EQ(quantile(samples, 0), 10);
    EXPECT_EQ(quantile(samples, 1), 50);
    EXPECT_EQ(quantile(samples, 0.5), 30);
    EXPECT_DOUBLE_EQ(quantile(samples, 0.9), 46);
    EXPECT_DOUBLE_EQ(interquartileRange(samples), 20);
}

TEST(Statistics, InfiniteSamplesDoNotTurnIntoNaN) {
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(median(Samples{1, infinity, infinity}), infinity);
    EXPECT_EQ(quantile(Samples{1, 2, infinity}, 0.5), 2);
}

TEST(Statistics, TheSameSeedGivesTheSameIntervalEverywhere) {
    const Samples samples = noisy(100, 5, 50, 3);
    EXPECT_EQ(bootstrapMedian(samples), bootstrapMedian(samples));
    EXPECT_FALSE(bootstrapMedian(samples, 1) == bootstrapMedian(samples, 2));
    SeededGenerator random(0);
    EXPECT_EQ(random.next(), 0xe220a8397b1dcdafULL) << "the published first output of splitmix64 for seed 0";
}

TEST(Statistics, IntervalsOfTheMedianCoverTheTruthAboutAsOftenAsTheySay) {
    int covered = 0;
    constexpr int kTrials = 300;
    for (int trial = 0; trial < kTrials; ++trial)
        covered += bootstrapMedian(noisy(100, 5, 50, 1000 + trial)).contains(100);
    const double percent = 100.0 * covered / kTrials;
    RecordProperty("covered_percent", std::to_string(percent));
    std::printf("coverage of the 95 %% interval of a median of 50: %.1f %%\n", percent);
    EXPECT_GE(percent, 91);
    EXPECT_LE(percent, 99);
}

TEST(Statistics, ARatioOfMediansFindsTheSpeedUp) {
    const auto interval = bootstrapRatioOfMedians(noisy(150, 3, 80, 1), noisy(100, 2, 80, 2));
    EXPECT_TRUE(interval.contains(1.5));
    EXPECT_LT(interval.high - interval.low, 0.05);
    EXPECT_FALSE(interval.contains(1));
}

TEST(Statistics, PairingRemovesDriftThatBothSidesShare) {
    Samples baseline = noisy(120, 0.5, 60, 5), candidate = noisy(100, 0.5, 60, 6);
    for (std::size_t i = 0; i < baseline.size(); ++i) {
        const double drift = 1 + 0.01 * static_cast<double>(i);  // 60 % slower by the end
        baseline[i] *= drift;
        candidate[i] *= drift;
    }
    const auto paired = bootstrapPairedRatioOfMedians(baseline, candidate);
    const auto independent = bootstrapRatioOfMedians(baseline, candidate);
    EXPECT_TRUE(paired.contains(1.2));
    EXPECT_LT((paired.high - paired.low) * 5, independent.high - independent.low);
}

TEST(Statistics, ARatioOfSumsIsAShareOverPasses) {
    const Samples part{2, 3, 2, 3}, whole{10, 10, 10, 10};
    const auto interval = bootstrapRatioOfSums(part, whole);
    EXPECT_TRUE(interval.contains(0.25));
    EXPECT_GE(interval.low, 0.2);
    EXPECT_LE(interval.high, 0.3);
}

TEST(Statistics, OneSampleGivesNoWidthAndNoSamplesGiveNaN) {
    EXPECT_EQ(bootstrapMedian(Samples{4}), (Interval{4, 4}));
    EXPECT_TRUE(std::isnan(bootstrapMedian(Samples{}).low));
    EXPECT_TRUE(std::isnan(bootstrapRatioOfSums(Samples{1}, Samples{1, 2}).low)) << "lengths differ";
    EXPECT_TRUE(std::isnan(bootstrapRatioOfSums(Samples{0, 0}, Samples{0, 0}).low)) << "nothing over nothing";
}

}  // namespace
}  // namespace kernelscope
