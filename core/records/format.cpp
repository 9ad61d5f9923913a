#include "core/records/format.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

namespace kernelscope {

namespace {
constexpr const char* kUnknown = "?";
}

std::string formatSignificant(double value, int digits) {
    if (std::isnan(value)) return kUnknown;
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    if (value == 0) return "0";
    // Rounding may add a digit (9.996 is 10.0), so the size is taken after rounding to `digits`.
    const double step = std::pow(10.0, std::floor(std::log10(std::abs(value))) - (digits - 1));
    const double rounded = std::round(value / step) * step;
    const int whole = static_cast<int>(std::floor(std::log10(std::abs(rounded)))) + 1;
    return fmt::format("{:.{}f}", value, std::clamp(digits - whole, 0, 12));
}

std::string formatMicroseconds(double microseconds) {
    if (std::isnan(microseconds)) return kUnknown;
    const double size = std::abs(microseconds);
    // The borders are where three digits would round up to the next unit's 1.00.
    if (size == 0) return "0 µs";
    if (size < 0.9995) return formatSignificant(microseconds * 1e3) + " ns";
    if (size < 999.5) return formatSignificant(microseconds) + " µs";
    if (size < 999.5e3) return formatSignificant(microseconds / 1e3) + " ms";
    return formatSignificant(microseconds / 1e6) + " s";
}

std::string formatBytes(double bytes) {
    if (std::isnan(bytes)) return kUnknown;
    constexpr std::array<const char*, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    while (unit + 1 < kUnits.size() && std::abs(bytes) >= 1023.5) {
        bytes /= 1024;
        ++unit;
    }
    return unit == 0 ? fmt::format("{:.0f} B", bytes) : formatSignificant(bytes) + " " + kUnits[unit];
}

std::string formatPercent(double percent, int decimals) {
    return std::isnan(percent) ? kUnknown : fmt::format("{:.{}f} %", percent, decimals);
}

std::string formatCount(std::int64_t count) {
    const std::string digits = std::to_string(count);
    const std::size_t first = count < 0 ? 1 : 0;
    std::string text;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > first && (digits.size() - i) % 3 == 0) text += ',';
        text += digits[i];
    }
    return text;
}

std::string formatDuration(double seconds) {
    if (!(seconds >= 0) || std::isinf(seconds)) return kUnknown;
    const auto whole = static_cast<std::int64_t>(std::llround(std::min(seconds, 1e12)));
    if (whole < 60) return fmt::format("{} s", whole);
    if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
    return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string formatRatio(double ratio) {
    if (std::isnan(ratio)) return kUnknown;
    // "1.00x slower" would say two things at once.
    const double from = std::abs(ratio - 1);
    return fmt::format("{:.{}f}x", ratio, from < 0.005 && from >= 0.0005 ? 3 : 2);
}

}  // namespace kernelscope
