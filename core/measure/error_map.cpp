#include "core/measure/error_map.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/measure/spacing.h"
#include "core/model/parallel.h"

namespace kernelscope {
namespace {

// Fine enough to see a row, a vector's tail or a half that is wrong; 2 KB a cell in the store.
constexpr std::int64_t kRowBins = 16, kColumnBins = 32;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::size_t classOf(double ulp) {
    std::size_t index = 0;
    while (index < std::size(kErrorClassesUlp) && !(ulp <= kErrorClassesUlp[index])) ++index;
    return index;
}

/// 0 for elements that no number is known of; infinite where one side alone is finite.
double distance(double value, double exact, double perUlp) {
    if (std::isfinite(value) && std::isfinite(exact)) return std::abs(value - exact) * perUlp;
    const bool same = std::isnan(value) ? std::isnan(exact) : value == exact;
    return same ? 0 : kInfinity;
}

}  // namespace

ErrorMap::ErrorMap(std::int64_t rows, std::int64_t columns)
    : m_rows(rows), m_columns(columns), m_rowBins(std::min(rows, kRowBins)), m_columnBins(std::min(columns, kColumnBins)),
      m_ulp(static_cast<std::size_t>(m_rowBins * m_columnBins)) {}

template <typename T>
void ErrorMap::addRange(const Compared& t, std::int64_t firstRow, std::int64_t begin, std::int64_t end, Part& part) const {
    const T* values = t.value.const_data_ptr<T>();
    const T* natives = t.native.const_data_ptr<T>();
    const double* exacts = t.exact.const_data_ptr<double>();
    const double* magnitudes = t.magnitude.defined() ? t.magnitude.const_data_ptr<double>() : nullptr;
    const Spacing spacing = Spacing::of(t.value.scalar_type());
    for (std::int64_t row = begin; row < end; ++row) {
        double* bins = part.ulp.data() + (firstRow + row) * m_rowBins / m_rows * m_columnBins;
        for (std::int64_t bin = 0; bin < m_columnBins; ++bin) {
            double most = bins[bin];
            // Column c is in bin c * bins / columns.
            const std::int64_t from = (bin * m_columns + m_columnBins - 1) / m_columnBins, to = ((bin + 1) * m_columns + m_columnBins - 1) / m_columnBins;
            for (std::int64_t column = from; column < to; ++column) {
                const std::int64_t i = row * m_columns + column;
                const double value = static_cast<float>(values[i]), native = static_cast<float>(natives[i]);
                double exact = exacts[i];
                // What overflows the type is infinite in it, and native says so.
                if (!std::isfinite(native)) exact = native;
                const double size = magnitudes ? std::max(std::abs(exact), magnitudes[i]) : std::abs(exact);
                const double perUlp = std::isfinite(size) ? 1 / spacing.at(size) : 1;
                const double ulp = distance(value, exact, perUlp);
                ++part.counts[classOf(ulp)];
                ++part.nativeCounts[classOf(distance(native, exact, perUlp))];
                most = std::max(most, ulp);
                if (ulp > part.worst.ulp) part.worst = {ulp, firstRow + row, column, value, native, exacts[i]};
            }
            bins[bin] = most;
        }
    }
}

void ErrorMap::merge(const Part& part) {
    for (std::size_t i = 0; i < m_ulp.size(); ++i) m_ulp[i] = std::max(m_ulp[i], part.ulp[i]);
    for (std::size_t i = 0; i < kClasses; ++i) {
        m_counts[i] += part.counts[i];
        m_nativeCounts[i] += part.nativeCounts[i];
    }
    // Of several that are as bad the first, however the threads came by.
    const Worst& other = part.worst;
    if (other.ulp > m_worst.ulp || (other.ulp == m_worst.ulp && std::pair(other.row, other.column) < std::pair(m_worst.row, m_worst.column))) m_worst = other;
}

void ErrorMap::add(const Compared& given, std::int64_t firstRow, std::int64_t rows) {
    if (rows == 0 || m_columns == 0) return;
    Compared t = given;
    for (at::Tensor* tensor : {&t.value, &t.native, &t.exact, &t.magnitude}) {
        if (tensor->defined()) *tensor = tensor->cpu();
    }
    const std::int64_t grain = std::max<std::int64_t>(1, (1 << 15) / m_columns);
    std::mutex merging;
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, t.value.scalar_type(), "ErrorMap::add", [&] {
        parallelRanges(rows, grain, [&](std::int64_t begin, std::int64_t end) {
            Part part;
            part.ulp.assign(m_ulp.size(), 0);
            addRange<scalar_t>(t, firstRow, begin, end, part);
            const std::lock_guard lock(merging);
            merge(part);
        });
    });
}

ErrorMapRow ErrorMap::row() const {
    ErrorMapRow row;
    row.rows = m_rows;
    row.columns = m_columns;
    row.rowBins = m_rowBins;
    row.columnBins = m_columnBins;
    std::vector<std::string> bins;
    for (const double ulp : m_ulp) bins.push_back(fmt::format("{:.3g}", ulp));
    row.ulp = fmt::format("{}", fmt::join(bins, " "));
    row.histogram = fmt::format("{}", fmt::join(m_counts, " "));
    row.nativeHistogram = fmt::format("{}", fmt::join(m_nativeCounts, " "));
    row.worstRow = m_worst.row;
    row.worstColumn = m_worst.column;
    if (m_worst.ulp >= 0) {
        row.got = m_worst.got;
        row.native = m_worst.native;
        row.exact = m_worst.exact;
    }
    return row;
}

}  // namespace kernelscope
