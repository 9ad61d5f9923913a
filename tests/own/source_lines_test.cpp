#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/own/source_lines.h"

namespace kernelscope::test {
namespace {

TEST(SourceLines, AWordIsFoundWholeAndOutsideComments) {
    const std::string source = "// my_norm does it\nint my_norm_2;\nint amy_norm;\nvoid my_norm(int);\n";
    EXPECT_EQ(lineOfWord(source, "my_norm"), 4);
    EXPECT_EQ(lineOfWord(source, "does"), 0);
    EXPECT_EQ(lineOfWord("", "x"), 0);
}

TEST(SourceLines, ALogNamesFileAndLine) {
    EXPECT_EQ(readableLog("a/my.cu(12): error: no\n\n1 error detected (1): x\n"), "a/my.cu:12: error: no\n1 error detected :1: x");
    EXPECT_EQ(readableLog("my (copy).cu(3): warning #1: (a): b\n"), "my (copy).cu:3: warning #1: (a): b");
    EXPECT_EQ(readableLog("f(x): g\n"), "f(x): g");
    const std::string a(50, 'a'), b(50, 'b');
    EXPECT_EQ(readableLog(fmt::format("{}\n{}\n", a, b), 60), fmt::format("{}\n...", a));
}

TEST(SourceLines, OfManyErrorsTheFirstTenAreForPeople) {
    std::string log;
    for (int i = 1; i <= 25; ++i) log += fmt::format("a.cpp:{}:1: error: no\na.cpp:{}:1: note: because\n", i, i);
    std::size_t leftOut = 0;
    const std::string few = firstErrors(log, leftOut);
    EXPECT_TRUE(few.starts_with("a.cpp:1:1: error: no\n") && few.ends_with("a.cpp:10:1: note: because")) << few;
    EXPECT_EQ(leftOut, 30U);
    EXPECT_EQ(firstErrors("a.cpp:1:1: error: no\n", leftOut), "a.cpp:1:1: error: no");
    EXPECT_EQ(leftOut, 0U);
    std::string one = "a.cpp:1:1: error: no\n";
    for (int i = 0; i < 100; ++i) one += "a.cpp:1:1: note: candidate\n";
    firstErrors(one, leftOut);
    EXPECT_EQ(leftOut, 61U) << "one error of a template can fill pages";
}

}  // namespace
}  // namespace kernelscope::test
