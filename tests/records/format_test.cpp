#include "core/records/format.h"

#include <cmath>

#include <gtest/gtest.h>

namespace kernelscope {
namespace {

TEST(Format, TimesHaveThreeDigitsAndTheUnitThatFits) {
    EXPECT_EQ(formatMicroseconds(0), "0 µs");
    EXPECT_EQ(formatMicroseconds(0.8534), "853 ns");
    EXPECT_EQ(formatMicroseconds(0.9996), "1.00 µs");
    EXPECT_EQ(formatMicroseconds(12.44), "12.4 µs");
    EXPECT_EQ(formatMicroseconds(999.4), "999 µs");
    EXPECT_EQ(formatMicroseconds(999.6), "1.00 ms");
    EXPECT_EQ(formatMicroseconds(6214), "6.21 ms");
    EXPECT_EQ(formatMicroseconds(9996), "10.0 ms");
    EXPECT_EQ(formatMicroseconds(3.05e6), "3.05 s");
    EXPECT_EQ(formatMicroseconds(-2500), "-2.50 ms");
    EXPECT_EQ(formatMicroseconds(std::nan("")), "?");
}

TEST(Format, BytesAreInPowersOf1024) {
    EXPECT_EQ(formatBytes(0), "0 B");
    EXPECT_EQ(formatBytes(1023), "1023 B");
    EXPECT_EQ(formatBytes(1024), "1.00 KiB");
    EXPECT_EQ(formatBytes(1.5 * 1024 * 1024 * 1024), "1.50 GiB");
    EXPECT_EQ(formatBytes(139.0 * 1024 * 1024 * 1024), "139 GiB");
}

TEST(Format, PercentCountDurationAndRatio) {
    EXPECT_EQ(formatPercent(48.26), "48.3 %");
    EXPECT_EQ(formatPercent(48.26, 0), "48 %");
    EXPECT_EQ(formatCount(494032768), "494,032,768");
    EXPECT_EQ(formatCount(999), "999");
    EXPECT_EQ(formatCount(-1000), "-1,000");
    EXPECT_EQ(formatCount(INT64_MIN), "-9,223,372,036,854,775,808");
    EXPECT_EQ(formatDuration(3.6), "4 s");
    EXPECT_EQ(formatDuration(185), "3 min 05 s");
    EXPECT_EQ(formatDuration(7800), "2 h 10 min");
    EXPECT_EQ(formatDuration(-1), "?");
    EXPECT_EQ(formatRatio(1.268), "1.27x");
}

TEST(Format, SignificantDigitsSurviveRounding) {
    EXPECT_EQ(formatSignificant(9.996), "10.0");
    EXPECT_EQ(formatSignificant(0.042149), "0.0421");
    EXPECT_EQ(formatSignificant(1980), "1980");
    EXPECT_EQ(formatSignificant(-0.5), "-0.500");
}

}  // namespace
}  // namespace kernelscope
