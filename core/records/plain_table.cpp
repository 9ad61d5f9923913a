#include "core/records/plain_table.h"

#include <algorithm>

#include "core/records/utf8.h"

namespace kernelscope {

namespace {

constexpr std::string_view kBetween = "  ";

bool isWide(char32_t c) {
    return (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) || (c >= 0xAC00 && c <= 0xD7A3) ||
           (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
           (c >= 0xFFE0 && c <= 0xFFE6) || (c >= 0x1F300 && c <= 0x1FAFF) || (c >= 0x20000 && c <= 0x3FFFD);
}

bool isCombining(char32_t c) {
    return (c >= 0x0300 && c <= 0x036F) || (c >= 0x200B && c <= 0x200F) || (c >= 0xFE00 && c <= 0xFE0F);
}

/// A cell is one line, and no wider than a screen: a file or an engine may hold a name of a megabyte.
std::string cleaned(std::string text) {
    constexpr std::size_t kLongestCell = 400;
    if (text.size() > kLongestCell) text = shortened(text, kLongestCell);
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
    return text;
}

}  // namespace

std::size_t displayWidth(std::string_view utf8) {
    std::size_t width = 0;
    for (std::size_t i = 0; i < utf8.size();) {
        const auto lead = static_cast<unsigned char>(utf8[i]);
        const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
        char32_t code = length == 1 ? lead : lead & (0x7F >> length);
        for (std::size_t k = 1; k < length && i + k < utf8.size(); ++k)
            code = (code << 6) | (static_cast<unsigned char>(utf8[i + k]) & 0x3F);
        width += isCombining(code) ? 0 : isWide(code) ? 2 : 1;
        i += length;
    }
    return width;
}

void PlainTable::addColumn(std::string title, Align align) { m_columns.push_back({std::move(title), align}); }

void PlainTable::addRow(std::vector<std::string> cells) {
    cells.resize(m_columns.size());
    for (std::string& cell : cells) cell = cleaned(std::move(cell));
    m_rows.push_back({false, std::move(cells)});
}

void PlainTable::addRule() { m_rows.push_back({true, {}}); }

std::string PlainTable::text() const {
    std::vector<std::size_t> widths(m_columns.size(), 0);
    for (const Row& row : m_rows)
        for (std::size_t i = 0; i < row.cells.size(); ++i) widths[i] = std::max(widths[i], displayWidth(row.cells[i]));
    const bool empty = m_rows.empty();
    std::size_t total = 0;
    for (std::size_t i = 0; i < widths.size(); ++i) {
        if (widths[i] == 0 && !empty) continue;
        widths[i] = std::max(widths[i], displayWidth(m_columns[i].title));
        total += widths[i] + (total ? kBetween.size() : 0);
    }

    std::string text;
    const auto addLine = [&](auto cellAt) {
        std::string line;
        bool first = true;
        for (std::size_t i = 0; i < widths.size(); ++i) {
            if (widths[i] == 0) continue;
            if (!first) line += kBetween;
            first = false;
            const std::string& cell = cellAt(i);
            const std::string padding(widths[i] - std::min(widths[i], displayWidth(cell)), ' ');
            line += m_columns[i].align == Align::right ? padding + cell : cell + padding;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    };
    const std::string rule(total, '-');
    addLine([&](std::size_t i) -> const std::string& { return m_columns[i].title; });
    text += rule + '\n';
    for (const Row& row : m_rows) {
        if (row.rule) text += rule + '\n';
        else addLine([&](std::size_t i) -> const std::string& { return row.cells[i]; });
    }
    return text;
}

}  // namespace kernelscope
