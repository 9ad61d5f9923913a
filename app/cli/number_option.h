#pragma once
// What an option that takes a number accepts.

#include <cstdint>

#include <CLI/CLI.hpp>

namespace kernelscope::cli {

/// A whole number from `least` to `most` in decimal digits, for `->transform()`: CLI11 itself would read 010 as eight.
CLI::Validator wholeNumber(std::int64_t least, std::int64_t most);
/// Any whole number of 64 bits.
CLI::Validator wholeNumber();
/// A number from `least` to `most`; nan is none, which CLI11's own range lets through.
CLI::Validator decimalNumber(double least, double most);

}  // namespace kernelscope::cli
