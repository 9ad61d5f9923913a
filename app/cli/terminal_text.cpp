#include "app/cli/terminal.h"

#include "core/records/utf8.h"

namespace kernelscope::cli {

std::string terminalText(std::string_view text) {
    std::string words = validUtf8(text);
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto c = static_cast<unsigned char>(words[i]);
        if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7F) words[i] = '?';
        // The second set of them, U+0080 to U+009F.
        if (c == 0xC2 && i + 1 < words.size() && static_cast<unsigned char>(words[i + 1]) < 0xA0) words.replace(i, 2, "?");
    }
    return words;
}

std::string terminalMessage(std::string_view text) {
    constexpr std::size_t kLongest = 16384;
    return terminalText(text.substr(0, kLongest)) + (text.size() > kLongest ? " ..." : "");
}

}  // namespace kernelscope::cli
