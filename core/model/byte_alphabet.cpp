#include "core/model/byte_alphabet.h"

#include <array>
#include <cstdint>

#include "core/records/utf8.h"

namespace kernelscope {
namespace {

constexpr bool standsForItself(unsigned byte) {
    return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr unsigned kOthers = 68;  // bytes that do not stand for themselves

struct Alphabet {
    std::array<std::uint16_t, 256> characterOf{};
    std::array<std::int16_t, 256 + kOthers> byteOf{};
};

constexpr Alphabet makeAlphabet() {
    Alphabet alphabet;
    for (auto& byte : alphabet.byteOf) byte = -1;
    unsigned next = 256;
    for (unsigned byte = 0; byte < 256; ++byte) {
        const unsigned character = standsForItself(byte) ? byte : next++;
        alphabet.characterOf[byte] = static_cast<std::uint16_t>(character);
        alphabet.byteOf[character] = static_cast<std::int16_t>(byte);
    }
    return alphabet;
}

constexpr Alphabet kAlphabet = makeAlphabet();
static_assert(kAlphabet.characterOf[' '] == 0x120);

}  // namespace

std::optional<std::string> bytesOfSpelling(std::string_view spelling) {
    std::string bytes;
    bytes.reserve(spelling.size());
    for (std::size_t at = 0; at < spelling.size();) {
        const auto first = static_cast<unsigned char>(spelling[at]);
        std::size_t length = 1;
        unsigned character = first;
        if (first >= 0x80) {
            length = characterLength(spelling.substr(at));
            if (length != 2) return std::nullopt;  // the whole alphabet lies below U+0800
            character = ((first & 0x1FU) << 6U) | (static_cast<unsigned char>(spelling[at + 1]) & 0x3FU);
        }
        if (character >= kAlphabet.byteOf.size() || kAlphabet.byteOf[character] < 0) return std::nullopt;
        bytes.push_back(static_cast<char>(kAlphabet.byteOf[character]));
        at += length;
    }
    return bytes;
}

std::string spellingOfByte(unsigned char byte) {
    const unsigned character = kAlphabet.characterOf[byte];
    if (character < 0x80) return std::string(1, static_cast<char>(character));
    return {static_cast<char>(0xC0U | (character >> 6U)), static_cast<char>(0x80U | (character & 0x3FU))};
}

}  // namespace kernelscope
