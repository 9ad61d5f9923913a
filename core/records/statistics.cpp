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

namespace {

/// Student's t, two-sided 95 %; between the tabulated degrees the larger value, which is the careful one.
double studentT(double degrees) {
    constexpr double kTable[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086};
    if (degrees >= 1e3) return 1.960;
    if (degrees >= 21) return 1.960 + 2.4 / degrees;  // within 0.01 of the exact value, and above it
    return kTable[static_cast<std::size_t>(std::max(1.0, std::floor(degrees))) - 1];
}

struct Logarithms {
    double mean = 0, variance = 0;
    std::size_t count = 0;
};

Logarithms logarithmsOf(std::span<const double> values) {
    Logarithms all;
    all.count = values.size();
    const double n = static_cast<double>(values.size());
    for (const double value : values) all.mean += (value > 0 ? std::log(value) : kNaN) / n;
    for (const double value : values) all.variance += std::pow(std::log(value) - all.mean, 2) / std::max(1.0, n - 1);
    return all;
}

}  // namespace

Interval ratioOfRuns(std::span<const double> numerator, std::span<const double> denominator) {
    if (numerator.empty() || denominator.empty() || numerator.size() + denominator.size() < 3) return {kNaN, kNaN};
    Logarithms a = logarithmsOf(numerator), b = logarithmsOf(denominator);
    const double na = static_cast<double>(a.count), nb = static_cast<double>(b.count);
    double degrees = 0;
    if (a.count == 1 || b.count == 1) {
        (a.count == 1 ? a : b).variance = (a.count == 1 ? b : a).variance;
        degrees = std::max(na, nb) - 1;
    } else {
        const double wa = a.variance / na, wb = b.variance / nb;
        degrees = wa + wb > 0 ? (wa + wb) * (wa + wb) / (wa * wa / (na - 1) + wb * wb / (nb - 1)) : na + nb - 2;
    }
    const double reach = studentT(degrees) * std::sqrt(a.variance / na + b.variance / nb);
    return {std::exp(a.mean - b.mean - reach), std::exp(a.mean - b.mean + reach)};
}

}  // namespace kernelscope
