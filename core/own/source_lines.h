#pragma once
// Where in a source something stands, and compilers' messages as file:line.

#include <cstdint>
#include <string>
#include <string_view>

namespace kernelscope {

/// The line (from 1) of the first place where `word` stands as a whole identifier, outside // comments; 0: nowhere.
std::int64_t lineOfWord(std::string_view source, std::string_view word);

/// A compiler's log with "file(12): error" written as "file:12: error", at most `limit` bytes, whole lines.
std::string readableLog(std::string_view log, std::size_t limit = 6000);

/// The first errors of a readable log, as many as people read: ten of them, with what the compiler says about each, in forty lines at most. How
/// many lines were left out is `leftOut`.
std::string firstErrors(std::string_view log, std::size_t& leftOut);

}  // namespace kernelscope
