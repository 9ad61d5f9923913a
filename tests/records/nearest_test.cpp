#include <gtest/gtest.h>

#include "core/records/nearest.h"

namespace kernelscope {
namespace {

TEST(Nearest, SuggestsWhatWasProbablyMeant) {
    const std::vector<std::string> words{"--iterations", "--warmup", "--batch", "--model"};
    EXPECT_EQ(nearest("--iteratons", words), std::vector<std::string>{"--iterations"});
    EXPECT_EQ(nearest("--modle", words), std::vector<std::string>{"--model"});
    EXPECT_EQ(nearest("--MODEL", words), std::vector<std::string>{"--model"}) << "capitals are no mistake";
}

TEST(Nearest, SuggestsNothingForAWordThatIsNoTypo) {
    const std::vector<std::string> words{"profile", "validate", "sweep"};
    EXPECT_TRUE(nearest("banana", words).empty());
    EXPECT_TRUE(nearest(std::string(100'000, 'x'), words).empty()) << "a third of it is longer than every word";
    EXPECT_TRUE(nearest("x", {}).empty());
}

TEST(Nearest, CountsASwapOfNeighboursAsOneMistake) {
    EXPECT_EQ(editDistance("abc", "acb"), 1);
    EXPECT_EQ(editDistance("", "abc"), 3);
}

}  // namespace
}  // namespace kernelscope
