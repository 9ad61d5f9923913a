#pragma once
// UTF-8 as it comes from files, keyboards and models: valid, broken, or cut in the middle of a character.

#include <cstddef>
#include <string>
#include <string_view>

namespace kernelscope {

/// Length of the valid character that `text` begins with, 1 to 4; 0 when it begins with none (surrogates, overlong
/// forms and values above U+10FFFF count as broken) or is empty.
std::size_t characterLength(std::string_view text);

/// How many bytes `text` begins with that are valid UTF-8.
std::size_t validPrefix(std::string_view text);

/// Bytes in, valid UTF-8 out. A character that is not complete yet is held back; what can never become one is replaced
/// by U+FFFD, one for each longest beginning of a character. The pieces put together do not depend on how the bytes
/// were cut.
class Utf8Stream {
public:
    [[nodiscard]] std::string push(std::string_view bytes);
    /// What was held back, as U+FFFD, or "".
    [[nodiscard]] std::string finish();

private:
    std::string m_held;  ///< at most 3 bytes
};

/// `utf8` itself, or as many whole characters as fit `bytes` and "…" after them.
std::string shortened(std::string_view utf8, std::size_t bytes);

/// All at once: push and finish.
std::string validUtf8(std::string_view bytes);

}  // namespace kernelscope
