#include "core/records/utf8.h"

#include <algorithm>

namespace kernelscope {
namespace {

struct Lead {
    std::size_t length;          ///< of the whole character; 0: no character begins so
    unsigned char least, most;   ///< bounds of the second byte; the later ones are 80 to BF
};

// Table 3-7 of the Unicode standard, "Well-Formed UTF-8 Byte Sequences".
Lead leadOf(unsigned char byte) {
    if (byte < 0x80) return {1, 0, 0};
    if (byte < 0xC2) return {0, 0, 0};
    if (byte < 0xE0) return {2, 0x80, 0xBF};
    if (byte == 0xE0) return {3, 0xA0, 0xBF};
    if (byte == 0xED) return {3, 0x80, 0x9F};
    if (byte < 0xF0) return {3, 0x80, 0xBF};
    if (byte == 0xF0) return {4, 0x90, 0xBF};
    if (byte < 0xF4) return {4, 0x80, 0xBF};
    if (byte == 0xF4) return {4, 0x80, 0x8F};
    return {0, 0, 0};
}

/// How many bytes at the front could belong to one character, and how many that character needs.
struct Beginning {
    std::size_t good;
    std::size_t needed;
};

Beginning beginningOf(std::string_view text) {
    const Lead lead = leadOf(static_cast<unsigned char>(text[0]));
    if (lead.length == 0) return {0, 0};
    std::size_t good = 1;
    while (good < lead.length && good < text.size()) {
        const auto byte = static_cast<unsigned char>(text[good]);
        const unsigned char least = good == 1 ? lead.least : 0x80, most = good == 1 ? lead.most : 0xBF;
        if (byte < least || byte > most) break;
        ++good;
    }
    return {good, lead.length};
}

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

}  // namespace

std::size_t characterLength(std::string_view text) {
    if (text.empty()) return 0;
    const Beginning found = beginningOf(text);
    return found.good == found.needed ? found.needed : 0;
}

std::size_t validPrefix(std::string_view text) {
    std::size_t at = 0;
    while (at < text.size()) {
        if (static_cast<unsigned char>(text[at]) < 0x80) {
            ++at;
            continue;
        }
        const std::size_t length = characterLength(text.substr(at));
        if (length == 0) break;
        at += length;
    }
    return at;
}

std::string Utf8Stream::push(std::string_view bytes) {
    std::string text = std::move(m_held);
    m_held.clear();
    text.append(bytes);
    std::string out;
    std::string_view rest = text;
    while (!rest.empty()) {
        const std::size_t valid = validPrefix(rest);
        out.append(rest.substr(0, valid));
        rest.remove_prefix(valid);
        if (rest.empty()) break;
        const Beginning found = beginningOf(rest);
        if (found.good == rest.size() && found.good < found.needed) {  // may still become a character
            m_held = rest;
            break;
        }
        out.append(kReplacement);
        rest.remove_prefix(std::max<std::size_t>(found.good, 1));
    }
    return out;
}

std::string Utf8Stream::finish() {
    const bool held = !m_held.empty();
    m_held.clear();
    return held ? std::string(kReplacement) : std::string();
}

std::string validUtf8(std::string_view bytes) {
    Utf8Stream stream;
    std::string text = stream.push(bytes);
    return text + stream.finish();
}

std::string shortened(std::string_view utf8, std::size_t bytes) {
    if (utf8.size() <= bytes) return std::string(utf8);
    while (bytes > 0 && (static_cast<unsigned char>(utf8[bytes]) & 0xC0) == 0x80) --bytes;  // not in the middle of a character
    return std::string(utf8.substr(0, bytes)) + "…";
}

}  // namespace kernelscope
