#pragma once
// A table for terminals and logs: columns padded with spaces, numbers to the right.

#include <string>
#include <string_view>
#include <vector>

namespace kernelscope {

class PlainTable {
public:
    enum class Align { left, right };

    void addColumn(std::string title, Align align = Align::left);
    /// Missing cells stay empty, surplus ones are dropped. Control characters become spaces.
    void addRow(std::vector<std::string> cells);
    /// A line across before the next row.
    void addRule();

    /// Title line, rule, rows; every line ends with a newline, none with spaces. Columns without any text are left out.
    [[nodiscard]] std::string text() const;

private:
    struct Column {
        std::string title;
        Align align;
    };
    struct Row {
        bool rule = false;
        std::vector<std::string> cells;
    };
    std::vector<Column> m_columns;
    std::vector<Row> m_rows;
};

/// Columns of a terminal that the text takes, as far as that can be said without tables: one a code point, none for
/// combining marks, two for the wide East Asian blocks and emoji.
std::size_t displayWidth(std::string_view utf8);

}  // namespace kernelscope
