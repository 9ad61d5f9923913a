#include "core/records/nearest.h"

#include <algorithm>

namespace kernelscope {

namespace {

constexpr std::size_t kLongest = 64;  // beyond it nobody misspells; keeps the cost small

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

int editDistance(std::string_view a, std::string_view b) {
    a = a.substr(0, kLongest);
    b = b.substr(0, kLongest);
    std::vector<int> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = static_cast<int>(j);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = static_cast<int>(i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const int change = lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1;
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before.swap(last);
        last.swap(row);
    }
    return last[b.size()];
}

std::vector<std::string> nearest(std::string_view word, std::span<const std::string> candidates, std::size_t most) {
    const int bound = std::max(1, static_cast<int>(std::min(word.size(), kLongest)) / 3);
    std::vector<std::pair<int, std::string>> close;
    for (const std::string& candidate : candidates)
        if (const int distance = editDistance(word, candidate); distance <= bound) close.emplace_back(distance, candidate);
    std::stable_sort(close.begin(), close.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> words;
    for (std::size_t i = 0; i < std::min(most, close.size()); ++i) words.push_back(close[i].second);
    return words;
}

}  // namespace kernelscope
