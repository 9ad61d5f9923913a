#include "core/records/list.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

namespace kernelscope {

namespace {

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\r\n";
    const auto first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

/// Quoted input in a message, cut so that a megabyte of junk does not fill the terminal.
std::string quoted(std::string_view text) {
    constexpr std::size_t kShown = 40;
    return "'" + std::string(text.substr(0, kShown)) + (text.size() > kShown ? "..." : "") + "'";
}

Error bad(std::string_view part, const std::string& why, const std::string& advice = "write numbers and ranges such as 1,8,64-1024x2 or 1-4") {
    return makeError(ErrorCode::usage, "list part " + quoted(part) + ": " + why, advice);
}

/// The whole number that somebody wrote another way (1e3, 1_000, 64.0), for the advice.
std::optional<std::int64_t> meant(std::string_view text) {
    std::string digits(text);
    std::erase_if(digits, [](char c) { return c == '_' || c == '\''; });
    double value = 0;
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    constexpr double kMost = 1e15;  // beyond it a double no longer holds every whole number
    if (status != std::errc() || end != digits.data() + digits.size() || !(value >= 0 && value < kMost) || value != std::floor(value)) return std::nullopt;
    return static_cast<std::int64_t>(value);
}

Result<std::int64_t> wholeNumber(std::string_view digits, std::string_view part) {
    digits = trimmed(digits);
    if (digits.empty()) return bad(part, "a number is missing");
    std::int64_t value = 0;
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (status == std::errc::result_out_of_range) return bad(part, "the number is too large");
    if (status != std::errc() || end != digits.data() + digits.size() || digits.front() == '-') {
        const std::string why = quoted(digits) + " is not a whole number in digits";
        if (const auto number = meant(digits)) return bad(part, why, "write " + std::to_string(*number) + " for it");
        return bad(part, quoted(digits) + " is not a whole number");
    }
    return value;
}

Result<void> appendPart(std::string_view part, std::vector<std::int64_t>& values) {
    const auto tooLong = [&] { return bad(part, "the list would have more than " + std::to_string(kMaxListLength) + " entries"); };
    const auto dash = part.find('-', 1);  // a leading minus belongs to the number, which then is refused
    if (dash == std::string_view::npos) {
        const auto value = wholeNumber(part, part);
        if (!value) return value.error();
        if (values.size() >= kMaxListLength) return tooLong();
        values.push_back(*value);
        return {};
    }
    auto rest = part.substr(dash + 1);
    std::int64_t factor = 0;  // 0: steps of plus one
    if (const auto times = rest.find('x'); times != std::string_view::npos) {
        const auto value = wholeNumber(rest.substr(times + 1), part);
        if (!value) return value.error();
        if (*value < 2) return bad(part, "steps of times " + std::to_string(*value) + " lead nowhere; use x2 or more");
        factor = *value;
        rest = rest.substr(0, times);
    }
    const auto first = wholeNumber(part.substr(0, dash), part);
    if (!first) return first.error();
    const auto last = wholeNumber(rest, part);
    if (!last) return last.error();
    if (*last < *first) return bad(part, "it ends below where it begins");
    if (factor == 0) {
        // *last - *first cannot overflow: both are at least 0.
        if (static_cast<std::uint64_t>(*last - *first) >= kMaxListLength - values.size()) return tooLong();
        for (std::int64_t value = *first;; ++value) {
            values.push_back(value);
            if (value == *last) return {};
        }
    }
    if (*first == 0) return bad(part, "0 times anything stays 0; begin at 1");
    for (std::int64_t value = *first;;) {
        if (values.size() >= kMaxListLength) return tooLong();
        values.push_back(value);
        if (value > *last / factor) return {};  // the next step would pass the end, and may not fit
        value *= factor;
    }
}

}  // namespace

Result<std::vector<std::int64_t>> parseList(std::string_view text) {
    std::vector<std::int64_t> values;
    if (trimmed(text).empty())
        return makeError(ErrorCode::usage, "the list is empty", "write numbers and ranges such as 1,8,64-1024x2 or 1-4");
    for (std::size_t begin = 0;;) {
        const auto comma = text.find(',', begin);
        const auto part = trimmed(text.substr(begin, comma == std::string_view::npos ? comma : comma - begin));
        if (part.empty()) return bad(part, "a number is missing");
        if (auto done = appendPart(part, values); !done) return done.error();
        if (comma == std::string_view::npos) return values;
        begin = comma + 1;
    }
}

std::string formatList(const std::vector<std::int64_t>& values) {
    std::string text;
    for (std::size_t i = 0; i < values.size();) {
        std::size_t end = i + 1;
        while (end < values.size() && values[end - 1] < std::numeric_limits<std::int64_t>::max() &&
               values[end] == values[end - 1] + 1)
            ++end;
        if (end - i < 3) end = i + 1;  // `1,2` reads better than `1-2`
        if (!text.empty()) text += ',';
        text += std::to_string(values[i]);
        if (end - i > 1) text += '-' + std::to_string(values[end - 1]);
        i = end;
    }
    return text;
}

}  // namespace kernelscope
