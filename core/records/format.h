#pragma once
// Figures for people: three significant digits, a unit, a dot as the decimal mark.

#include <cstdint>
#include <string>

namespace kernelscope {

/// Three significant digits without an exponent: 6.21, 48.3, 1980, 0.0421.
std::string formatSignificant(double value, int digits = 3);
/// "853 ns", "12.4 µs", "6.21 ms", "3.05 s". NaN is "?".
std::string formatMicroseconds(double microseconds);
/// "0 B", "512 B", "24.0 KiB", "1.00 GiB".
std::string formatBytes(double bytes);
/// "48.3 %"
std::string formatPercent(double percent, int decimals = 1);
/// "494,032,768"
std::string formatCount(std::int64_t count);
/// Time left, for progress: "4 s", "3 min 05 s", "2 h 10 min".
std::string formatDuration(double seconds);
/// "1.27x"; more digits where two would hide a difference: "0.998x"
std::string formatRatio(double ratio);

}  // namespace kernelscope
