#pragma once
// Byte-level vocabularies are spelt with one printable character a byte: printable Latin-1 stands for itself, the other
// bytes for U+0100 and up in order, so a space is spelt as U+0120.

#include <optional>
#include <string>
#include <string_view>

namespace kernelscope {

/// The bytes a spelling stands for; nothing when a character is not of the alphabet.
std::optional<std::string> bytesOfSpelling(std::string_view spelling);

/// The character that a byte is spelt with, in UTF-8.
std::string spellingOfByte(unsigned char byte);

}  // namespace kernelscope
