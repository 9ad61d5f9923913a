#include "core/records/plain_table.h"

#include <gtest/gtest.h>

namespace kernelscope {
namespace {

TEST(PlainTable, NumbersAreRightAlignedAndNoLineEndsWithSpaces) {
    PlainTable table;
    table.addColumn("name");
    table.addColumn("span", PlainTable::Align::right);
    table.addColumn("note");
    table.addRow({"Attention", "2.98 ms", "x"});
    table.addRow({"MLP", "853 µs", ""});
    table.addRule();
    table.addRow({"total", "6.21 ms"});
    EXPECT_EQ(table.text(),
              "name          span  note\n"
              "------------------------\n"
              "Attention  2.98 ms  x\n"
              "MLP         853 µs\n"
              "------------------------\n"
              "total      6.21 ms\n");
}

TEST(PlainTable, ColumnsWithoutAnyTextAreLeftOut) {
    PlainTable table;
    for (const char* title : {"a", "empty", "b"}) table.addColumn(title);
    table.addRow({"1", "", "2"});
    EXPECT_EQ(table.text(), "a  b\n----\n1  2\n");
}

TEST(PlainTable, AnEmptyTableStillShowsItsTitles) {
    PlainTable table;
    table.addColumn("id");
    table.addColumn("when");
    EXPECT_EQ(table.text(), "id  when\n--------\n");
}

TEST(PlainTable, ControlCharactersCannotDisturbATerminal) {
    PlainTable table;
    table.addColumn("text");
    table.addRow({"a\nb\x1b[31m"});
    EXPECT_EQ(table.text(), "text\n--------\na b [31m\n");
}

TEST(PlainTable, ACellIsNoWiderThanAScreenWhateverItHolds) {
    PlainTable table;
    table.addColumn("name");
    table.addRow({std::string(1'000'000, 'x')});
    table.addRow({std::string(399, 'y') + "漢"});
    EXPECT_LT(table.text().size(), 2'000u);
    EXPECT_NE(table.text().find(std::string(400, 'x') + "…\n"), std::string::npos);
    EXPECT_NE(table.text().find(std::string(399, 'y') + "…\n"), std::string::npos) << "never in the middle of a character";
}

TEST(PlainTable, WidthCountsWhatIsSeen) {
    EXPECT_EQ(displayWidth("µs"), 2u);
    EXPECT_EQ(displayWidth("漢字"), 4u);
    EXPECT_EQ(displayWidth("e\u0301"), 1u);
    EXPECT_EQ(displayWidth("\xff\xfe"), 1u) << "invalid bytes must not read past the end";
}

}  // namespace
}  // namespace kernelscope
