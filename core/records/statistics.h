#pragma once
// Medians, quantiles and bootstrap intervals. Every random draw comes from a seed, so that the same samples give
// the same interval on every machine.

#include <cstdint>
#include <span>
#include <vector>

namespace kernelscope {

/// Resamples of a bootstrap interval. 2,000 puts the Monte Carlo error of a 2.5 % bound at about 0.35 % of rank:
/// the interval's ends move by far less than its width from one seed to another.
inline constexpr int kBootstrapResamples = 2000;
/// The intervals of this project are 95 %.
inline constexpr double kConfidence = 0.95;
/// Any fixed number does; runs that want another pass their own seed.
inline constexpr std::uint64_t kBootstrapSeed = 0x6b65726e656c73ULL;

struct Interval {
    double low = 0;
    double high = 0;

    bool operator==(const Interval&) const = default;
    [[nodiscard]] bool contains(double value) const { return low <= value && value <= high; }
};

/// A small generator with known output (splitmix64, public domain algorithm by Sebastiano Vigna); the standard
/// library's distributions differ from one implementation to the next.
class SeededGenerator {
public:
    explicit SeededGenerator(std::uint64_t seed) : m_state(seed) {}
    std::uint64_t next();
    /// Uniform in [0, count), count > 0.
    std::size_t below(std::size_t count);

private:
    std::uint64_t m_state;
};

/// NaN for no samples; so are all functions below.
double median(std::span<const double> samples);
/// `q` in [0, 1], linear between the two nearest samples (type 7 of Hyndman and Fan).
double quantile(std::span<const double> samples, double q);
double interquartileRange(std::span<const double> samples);

/// Percentile bootstrap of the median. One sample gives an interval of no width; none gives NaN.
Interval bootstrapMedian(std::span<const double> samples, std::uint64_t seed = kBootstrapSeed);

/// Of median(numerator) / median(denominator), the two resampled independently.
Interval bootstrapRatioOfMedians(std::span<const double> numerator, std::span<const double> denominator,
                                 std::uint64_t seed = kBootstrapSeed);

/// The same for samples taken in pairs (same round, same index): a round is drawn as one, so that drift that
/// both sides share cancels. Both spans have the same length.
Interval bootstrapPairedRatioOfMedians(std::span<const double> numerator, std::span<const double> denominator,
                                       std::uint64_t seed = kBootstrapSeed);

/// Of the ratio of two medians known from whole runs, one figure a run, each in a process of its own: Welch's interval of the
/// difference of their logarithms, which holds what differs from one process to the next. Where one side has a single run the
/// other side's spread stands for both. NaN for fewer than three runs in all, and for figures that are not positive.
Interval ratioOfRuns(std::span<const double> numerator, std::span<const double> denominator);

/// Of sum(numerator) / sum(denominator) over passes (same pass, same index): the share of a module.
Interval bootstrapRatioOfSums(std::span<const double> numerator, std::span<const double> denominator,
                              std::uint64_t seed = kBootstrapSeed);

}  // namespace kernelscope
