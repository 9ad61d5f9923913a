#pragma once
// LIST of the command line: `1,8,64-1024x2` (from 64 to 1024 in steps of times 2), `1-4` (1,2,3,4).

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/records/result.h"

namespace kernelscope {

/// Longer lists are a slip of the keyboard, such as a missing `x2`; prompts of token ids stay well below.
inline constexpr std::size_t kMaxListLength = 1'000'000;

/// Whole numbers from 0 up, in the order written, duplicates kept. Errors (usage) quote the part that is wrong.
Result<std::vector<std::int64_t>> parseList(std::string_view text);

/// The shortest LIST that means the same as `values`: runs of consecutive numbers become `first-last`.
std::string formatList(const std::vector<std::int64_t>& values);

}  // namespace kernelscope
