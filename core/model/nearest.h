#pragma once
// "Did you mean ...?"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kernelscope {

/// The candidate that takes the fewest single-letter edits to reach (capitals aside), if it is near enough to be a typo.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

}  // namespace kernelscope
