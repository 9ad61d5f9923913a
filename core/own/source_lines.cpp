#include "core/own/source_lines.h"

#include <algorithm>

namespace kernelscope {
namespace {

bool isWord(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

/// "name(12): error: ..." -> "name:12: error: ..."
std::string withColons(std::string_view line) {
    const std::size_t close = line.find("): ");
    if (close == std::string_view::npos) return std::string(line);
    const std::size_t open = line.rfind('(', close);
    if (open == std::string_view::npos || open == 0 || open + 1 == close) return std::string(line);
    for (std::size_t i = open + 1; i < close; ++i) {
        if (line[i] < '0' || line[i] > '9') return std::string(line);
    }
    return std::string(line.substr(0, open)) + ":" + std::string(line.substr(open + 1, close - open - 1)) + std::string(line.substr(close + 1));
}

}  // namespace

std::int64_t lineOfWord(std::string_view source, std::string_view word) {
    std::int64_t number = 0;
    for (std::size_t begin = 0; begin <= source.size();) {
        const std::size_t end = std::min(source.find('\n', begin), source.size());
        std::string_view line = source.substr(begin, end - begin);
        line = line.substr(0, std::min(line.find("//"), line.size()));
        ++number;
        for (std::size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
            const bool begins = at == 0 || !isWord(line[at - 1]);
            const bool ends = at + word.size() == line.size() || !isWord(line[at + word.size()]);
            if (begins && ends) return number;
        }
        begin = end + 1;
    }
    return 0;
}

std::string readableLog(std::string_view log, std::size_t limit) {
    std::string text;
    for (std::size_t begin = 0; begin < log.size();) {
        const std::size_t end = std::min(log.find('\n', begin), log.size());
        const std::string line = withColons(log.substr(begin, end - begin));
        if (text.size() + line.size() > limit) {
            text += "\n...";
            break;
        }
        if (!line.empty()) text += (text.empty() ? "" : "\n") + line;
        begin = end + 1;
    }
    return text;
}

std::string firstErrors(std::string_view log, std::size_t& leftOut) {
    constexpr std::size_t kErrors = 10, kLines = 40;
    std::string text;
    std::size_t errors = 0, lines = 0;
    leftOut = 0;
    for (std::size_t begin = 0; begin < log.size();) {
        const std::size_t end = std::min(log.find('\n', begin), log.size());
        const std::string_view line = log.substr(begin, end - begin);
        begin = end + 1;
        if (line.find("error: ") != std::string_view::npos) ++errors;
        if (leftOut > 0 || errors > kErrors || lines >= kLines) {
            ++leftOut;
            continue;
        }
        text += (text.empty() ? "" : "\n") + std::string(line);
        ++lines;
    }
    return text;
}

}  // namespace kernelscope
