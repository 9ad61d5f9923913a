#include "core/records/list.h"

#include <gtest/gtest.h>

namespace kernelscope {
namespace {

using Numbers = std::vector<std::int64_t>;

Numbers listOf(const std::string& text) {
    const auto values = parseList(text);
    EXPECT_TRUE(values.ok()) << text << ": " << (values.ok() ? "" : values.error().message);
    return values.ok() ? *values : Numbers{};
}

std::string whyNot(const std::string& text) {
    const auto values = parseList(text);
    EXPECT_FALSE(values.ok()) << text;
    if (values.ok()) return {};
    EXPECT_EQ(values.error().code, ErrorCode::usage);
    return values.error().message;
}

TEST(List, NumbersRangesAndStepsMeanWhatTheContractSays) {
    EXPECT_EQ(listOf("1,8,64-1024x2"), (Numbers{1, 8, 64, 128, 256, 512, 1024}));
    EXPECT_EQ(listOf("1-4"), (Numbers{1, 2, 3, 4}));
    EXPECT_EQ(listOf("0"), (Numbers{0}));
    EXPECT_EQ(listOf(" 7 , 7 , 3 "), (Numbers{7, 7, 3}));
    EXPECT_EQ(listOf("5-5"), (Numbers{5}));
    EXPECT_EQ(listOf("3-20x3"), (Numbers{3, 9}));
}

TEST(List, StopsBelowTheEndWhereTheStepsDoNotMeetIt) { EXPECT_EQ(listOf("64-1000x2"), (Numbers{64, 128, 256, 512})); }

TEST(List, TheLargestNumbersNeitherOverflowNorHang) {
    EXPECT_EQ(listOf("9223372036854775807").front(), INT64_MAX);
    EXPECT_EQ(listOf("9223372036854775806-9223372036854775807").size(), 2u);
    EXPECT_EQ(listOf("1-9223372036854775807x2").size(), 63u);
    EXPECT_EQ(listOf("1-9223372036854775807x9223372036854775807").size(), 2u);
}

TEST(List, WhatCannotBeMeantIsSaid) {
    EXPECT_EQ(whyNot(""), "the list is empty");
    EXPECT_EQ(whyNot("1,,2"), "list part '': a number is missing");
    EXPECT_EQ(whyNot("1,"), "list part '': a number is missing");
    EXPECT_EQ(whyNot("1-"), "list part '1-': a number is missing");
    EXPECT_EQ(whyNot("1-4x"), "list part '1-4x': a number is missing");
    EXPECT_EQ(whyNot("-1"), "list part '-1': '-1' is not a whole number");
    EXPECT_EQ(whyNot("-"), "list part '-': '-' is not a whole number");
    EXPECT_EQ(whyNot("1.5"), "list part '1.5': '1.5' is not a whole number");
    EXPECT_EQ(whyNot("one"), "list part 'one': 'one' is not a whole number");
    EXPECT_EQ(whyNot("4-1"), "list part '4-1': it ends below where it begins");
    EXPECT_EQ(whyNot("1-8x1"), "list part '1-8x1': steps of times 1 lead nowhere; use x2 or more");
    EXPECT_EQ(whyNot("0-8x2"), "list part '0-8x2': 0 times anything stays 0; begin at 1");
    EXPECT_EQ(whyNot("9223372036854775808"), "list part '9223372036854775808': the number is too large");
}

TEST(List, ANumberWrittenAnotherWayIsOfferedInDigits) {
    const auto adviceFor = [](const std::string& text) {
        const auto values = parseList(text);
        EXPECT_FALSE(values.ok()) << text;
        return values.ok() ? std::string() : values.error().advice;
    };
    EXPECT_EQ(whyNot("8,1e3"), "list part '1e3': '1e3' is not a whole number in digits");
    EXPECT_EQ(adviceFor("8,1e3"), "write 1000 for it");
    EXPECT_EQ(adviceFor("1_024"), "write 1024 for it");
    EXPECT_EQ(adviceFor("64-4.096e3x2"), "write 4096 for it");
    EXPECT_EQ(adviceFor("1.5"), "write numbers and ranges such as 1,8,64-1024x2 or 1-4");
    EXPECT_EQ(adviceFor("1e300"), "write numbers and ranges such as 1,8,64-1024x2 or 1-4");
}

TEST(List, AnAbsurdLengthIsRefusedBeforeItIsBuilt) {
    EXPECT_EQ(whyNot("1-9223372036854775807"),
              "list part '1-9223372036854775807': the list would have more than 1000000 entries");
    EXPECT_EQ(listOf("1-1000000").size(), kMaxListLength);
    EXPECT_FALSE(parseList("1-1000000,1").ok());
    EXPECT_FALSE(parseList("1-1000000,1-2").ok());
}

TEST(List, AMessageDoesNotRepeatAMegabyteOfJunk) { EXPECT_LT(whyNot(std::string(1'000'000, 'y')).size(), 200u); }

TEST(List, WritingAndReadingGiveTheSameNumbers) {
    for (const Numbers& values : {Numbers{1, 2, 3, 4}, Numbers{1, 2}, Numbers{5}, Numbers{9, 8, 7}, Numbers{1, 2, 3, 7, 7, 8, 9, 10}})
        EXPECT_EQ(listOf(formatList(values)), values);
    EXPECT_EQ(formatList({1, 2, 3, 4, 9, 10}), "1-4,9,10");
    EXPECT_EQ(formatList({}), "");
}

}  // namespace
}  // namespace kernelscope
