#pragma once
// Where in a result its errors are: the largest in each bin of rows and columns, and how many elements have how much.

#include <array>
#include <cstdint>
#include <vector>

#include "core/measure/error_stats.h"
#include "core/records/kernel_detail_rows.h"

namespace kernelscope {

class ErrorMap {
public:
    ErrorMap(std::int64_t rows, std::int64_t columns);

    /// Rows `firstRow`.. of the result; `tensors.first` is not looked at.
    void add(const Compared& tensors, std::int64_t firstRow, std::int64_t rows);

    [[nodiscard]] double worstUlp() const { return m_worst.ulp; }
    /// All but the columns that name the cell.
    [[nodiscard]] ErrorMapRow row() const;

private:
    static constexpr std::size_t kClasses = std::size(kErrorClassesUlp) + 1;
    struct Worst {
        double ulp = -1;
        std::int64_t row = 0, column = 0;
        double got = 0, native = 0, exact = 0;
    };
    struct Part {
        std::vector<double> ulp;
        std::array<std::int64_t, kClasses> counts{}, nativeCounts{};
        Worst worst;
    };
    template <typename T>
    void addRange(const Compared& t, std::int64_t firstRow, std::int64_t begin, std::int64_t end, Part& part) const;
    void merge(const Part& part);

    std::int64_t m_rows, m_columns, m_rowBins, m_columnBins;
    std::vector<double> m_ulp;
    std::array<std::int64_t, kClasses> m_counts{}, m_nativeCounts{};
    Worst m_worst;
};

}  // namespace kernelscope
