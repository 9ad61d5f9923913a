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

}  // namespace
}  // namespace kernelscope::test
