#include "core/records/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kernelscope {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Reorders `values`, which a resample may.
double medianInPlace(std::vector<double>& values) {
    const std::size_t middle = values.size() / 2;
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(middle);
    std::nth_element(values.begin(), at, values.end());
    if (values.size() % 2 == 1) return *at;
    return (*std::max_element(values.begin(), at) + *at) / 2;
}

double quantileOfSorted(std::span<const double> sorted, double q) {
    const double place = std::clamp(q, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(std::floor(place));
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    const double part = place - static_cast<double>(below);
    if (part == 0) return sorted[below];  // also keeps infinity - infinity out
    return sorted[below] + part * (sorted[above] - sorted[below]);
}

std::vector<double> sorted(std::span<const double> samples) {
    std::vector<double> copy(samples.begin(), samples.end());
    std::sort(copy.begin(), copy.end());
    return copy;
}

bool holdsNaN(std::span<const double> samples) {
    return std::any_of(samples.begin(), samples.end(), [](double value) { return std::isnan(value); });
}

/// Draws the statistic kBootstrapResamples times and keeps the middle 95 %. Draws that are no number
/// (a ratio over zero) are left out.
template <typename Draw>
Interval percentileInterval(Draw draw) {
    std::vector<double> draws;
    draws.reserve(kBootstrapResamples);
    for (int i = 0; i < kBootstrapResamples; ++i)
        if (const double value = draw(); !std::isnan(value)) draws.push_back(value);
    if (draws.empty()) return {kNaN, kNaN};
    std::sort(draws.begin(), draws.end());
    constexpr double kTail = (1 - kConfidence) / 2;
    return {quantileOfSorted(draws, kTail), quantileOfSorted(draws, 1 - kTail)};
}

double resampledMedian(std::span<const double> samples, std::vector<double>& scratch, SeededGenerator& random) {
    scratch.resize(samples.size());
    for (double& value : scratch) value = samples[random.below(samples.size())];
    return medianInPlace(scratch);
}

bool unusable(std::span<const double> a, std::span<const double> b) {
    return a.empty() || b.empty() || holdsNaN(a) || holdsNaN(b);
}

}  // namespace

std::uint64_t SeededGenerator::next() {
    m_state += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = m_state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

std::size_t SeededGenerator::below(std::size_t count) {
    // A sample count is tiny beside 2^64, so the bias of the remainder is far below anything measured here.
    return static_cast<std::size_t>(next() % count);
}

double median(std::span<const double> samples) {
    if (samples.empty() || holdsNaN(samples)) return kNaN;
    std::vector<double> copy(samples.begin(), samples.end());
    return medianInPlace(copy);
}

double quantile(std::span<const double> samples, double q) {
    if (samples.empty() || holdsNaN(samples) || std::isnan(q)) return kNaN;
    return quantileOfSorted(sorted(samples), q);
}

double interquartileRange(std::span<const double> samples) {
    if (samples.empty() || holdsNaN(samples)) return kNaN;
    const auto ordered = sorted(samples);
    return quantileOfSorted(ordered, 0.75) - quantileOfSorted(ordered, 0.25);
}

Interval bootstrapMedian(std::span<const double> samples, std::uint64_t seed) {
    if (samples.empty() || holdsNaN(samples)) return {kNaN, kNaN};
    SeededGenerator random(seed);
    std::vector<double> scratch;
    return percentileInterval([&] { return resampledMedian(samples, scratch, random); });
}

Interval bootstrapRatioOfMedians(std::span<const double> numerator, std::span<const double> denominator, std::uint64_t seed) {
    if (unusable(numerator, denominator)) return {kNaN, kNaN};
    SeededGenerator random(seed);
    std::vector<double> scratch;
    return percentileInterval([&] {
        const double top = resampledMedian(numerator, scratch, random);
        return top / resampledMedian(denominator, scratch, random);
    });
}

Interval bootstrapPairedRatioOfMedians(std::span<const double> numerator, std::span<const double> denominator,
                                       std::uint64_t seed) {
    if (unusable(numerator, denominator) || numerator.size() != denominator.size()) return {kNaN, kNaN};
    SeededGenerator random(seed);
    std::vector<double> top(numerator.size()), bottom(numerator.size());
    return percentileInterval([&] {
        for (std::size_t i = 0; i < top.size(); ++i) {
            const std::size_t round = random.below(top.size());
            top[i] = numerator[round];
            bottom[i] = denominator[round];
        }
        return medianInPlace(top) / medianInPlace(bottom);
    });
}

Interval bootstrapRatioOfSums(std::span<const double> numerator, std::span<const double> denominator, std::uint64_t seed) {
    if (unusable(numerator, denominator) || numerator.size() != denominator.size()) return {kNaN, kNaN};
    SeededGenerator random(seed);
    return percentileInterval([&] {
        double top = 0, bottom = 0;
        for (std::size_t i = 0; i < numerator.size(); ++i) {
            const std::size_t pass = random.below(numerator.size());
            top += numerator[pass];
            bottom += denominator[pass];
        }
        return top / bottom;
    });
}

}  // namespace kernelscope
