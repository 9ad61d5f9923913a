// Expressions of a kernel's header: what they are worth, and what is said about those that are none.

#include <gtest/gtest.h>

#include <array>

#include "core/own/expression.h"

namespace kernelscope::test {
namespace {

constexpr std::array<std::string_view, 2> kNames{"rows", "hidden"};

std::int64_t valueOf(const std::string& text, std::int64_t rows = 7, std::int64_t hidden = 896) {
    const auto parsed = Expression::parse(text, kNames);
    EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
    if (!parsed) return -1;
    const std::array numbers{NamedNumber{"rows", rows}, NamedNumber{"hidden", hidden}};
    const auto value = parsed->value(numbers);
    EXPECT_TRUE(value) << text;
    return value ? *value : -1;
}

std::string complaintAbout(const std::string& text) {
    const auto parsed = Expression::parse(text, kNames);
    EXPECT_FALSE(parsed) << text;
    return parsed ? std::string() : parsed.error().message;
}

TEST(Expression, FollowsThePrecedenceOfC) {
    EXPECT_EQ(valueOf("2 + 3 * 4"), 14);
    EXPECT_EQ(valueOf("(2 + 3) * 4"), 20);
    EXPECT_EQ(valueOf("10 - 3 - 2"), 5);
    EXPECT_EQ(valueOf("-rows + 8"), 1);
    EXPECT_EQ(valueOf("hidden % 8 == 0 && rows < 8"), 1);
    EXPECT_EQ(valueOf("hidden % 9 == 0 || rows >= 8"), 0);
    EXPECT_EQ(valueOf("1 < 2 == 1"), 1);
    EXPECT_EQ(valueOf("!rows"), 0);
    EXPECT_EQ(valueOf("rows != 7"), 0);
}

TEST(Expression, KnowsTheFunctionsALaunchNeeds) {
    EXPECT_EQ(valueOf("ceil_div(hidden, 256)"), 4);
    EXPECT_EQ(valueOf("ceil_div(hidden, 128)"), 7);
    EXPECT_EQ(valueOf("min(rows, 3) + max(rows, 3)"), 10);
}

TEST(Expression, WhatDecidesAloneIsNotFollowed) { EXPECT_EQ(valueOf("rows == 0 || hidden / rows > 0", 0), 1); }

TEST(Expression, AChainOfAHundredThousandPartsIsRefusedInFewWords) {
    std::string chain = "1";
    for (int i = 0; i < 100'000; ++i) chain += "+1";
    const std::string complaint = complaintAbout(chain);
    EXPECT_NE(complaint.find("too many parts"), std::string::npos);
    EXPECT_LT(complaint.size(), 500U);
}

TEST(Expression, WithoutAValueItSaysSo) {
    const auto parsed = Expression::parse("hidden / rows", kNames);
    ASSERT_TRUE(parsed);
    const std::array numbers{NamedNumber{"rows", 0}, NamedNumber{"hidden", 8}};
    ASSERT_FALSE(parsed->value(numbers));
    EXPECT_NE(parsed->value(numbers).error().message.find("hidden / rows"), std::string::npos);
    const auto large = Expression::parse("9223372036854775807 * hidden", kNames);
    ASSERT_TRUE(large);
    EXPECT_FALSE(large->value(numbers));
}

TEST(Expression, AnUnknownNameIsAnsweredWithTheKnownOnes) {
    const std::string words = complaintAbout("row * 2");
    EXPECT_NE(words.find("'row'"), std::string::npos) << words;
    EXPECT_NE(words.find("rows, hidden"), std::string::npos) << words;
}

TEST(Expression, WhatIsNoneIsRefused) {
    for (const char* text : {"", " ", "rows +", "(rows", "rows)", "min(rows)", "min rows", "1 2", "rows; hidden", "99999999999999999999", "rows @ 2", "=", "!", "ceil_div(1, 2"}) complaintAbout(text);
    complaintAbout(std::string(100000, '('));
    for (const char sign : {'-', '!'}) {
        std::string signs(100000, sign);
        signs += '1';
        complaintAbout(signs);
    }
}

}  // namespace
}  // namespace kernelscope::test
