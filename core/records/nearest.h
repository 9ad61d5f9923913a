#pragma once
// What a misspelt word was probably meant to be.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kernelscope {

/// Letters to insert, drop, replace or swap with their neighbour to get from one word to the other, capitals aside.
int editDistance(std::string_view a, std::string_view b);

/// Up to `most` candidates that are close to `word`, the closest first. A candidate that takes changing more than a
/// third of the word is no suggestion but a guess, and left out.
std::vector<std::string> nearest(std::string_view word, std::span<const std::string> candidates, std::size_t most = 1);

}  // namespace kernelscope
