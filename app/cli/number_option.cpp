#include "app/cli/number_option.h"

#include <charconv>
#include <limits>
#include <string>

#include <fmt/core.h>

namespace kernelscope::cli {
namespace {

template <typename Number>
CLI::Validator numberBetween(Number least, Number most, const std::string& kind, const std::string& shown) {
    return CLI::Validator(
        [=](std::string& text) {
            Number number{};
            const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
            if (problem == std::errc() && end == text.data() + text.size() && number >= least && number <= most) {  // false for nan
                text = fmt::format("{}", number);
                return std::string();
            }
            constexpr std::size_t kShown = 40;
            return fmt::format("takes a {}, not '{}'", kind, text.size() > kShown ? text.substr(0, kShown) + "..." : text);  // CLI11 puts the option's name before it
        },
        shown);
}

}  // namespace

CLI::Validator wholeNumber(std::int64_t least, std::int64_t most) {
    const std::string range = fmt::format("{} to {}", least, most);
    return numberBetween<std::int64_t>(least, most, "whole number from " + range, range);
}

CLI::Validator wholeNumber() {
    using Limits = std::numeric_limits<std::int64_t>;
    return numberBetween<std::int64_t>(Limits::min(), Limits::max(), "whole number of 64 bits", "");
}

CLI::Validator decimalNumber(double least, double most) {
    const std::string range = fmt::format("{} to {}", least, most);
    return numberBetween<double>(least, most, "number from " + range, range);
}

}  // namespace kernelscope::cli
