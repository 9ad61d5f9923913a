#pragma once
// What stands behind the rows of kernels: where in a result its errors are, and what the device could do at best.

#include "core/records/row.h"

namespace kernelscope {

/// Where in the result of one validated cell the errors are, against float64, in units of the last place.
struct ErrorMapRow {
    std::string op, variant, dtype;
    std::int64_t hidden = 0;
    std::int64_t rows = 0;
    std::string caseName;
    std::string output;           ///< of the operator's results the one with the largest error
    std::int64_t columns = 0;     ///< of that result; its rows are `rows`
    std::int64_t rowBins = 0, columnBins = 0;
    std::string ulp;              ///< largest error in each bin, row after row, joined with spaces; inf where one side alone is finite
    std::string histogram, nativeHistogram;  ///< elements by error, counts joined with spaces: the classes of kErrorClassesUlp
    std::int64_t worstRow = 0, worstColumn = 0;
    std::optional<double> got, native, exact;  ///< there

    bool operator==(const ErrorMapRow&) const = default;
};

/// Upper ends of the histogram's classes; the class behind the last holds everything larger and what is not finite on one side alone.
inline constexpr double kErrorClassesUlp[] = {0, 0.25, 0.5, 1, 2, 4, 8};

template <>
struct RowSchema<ErrorMapRow> {
    static constexpr std::string_view kName = "error_map";
    static constexpr auto kFields = std::tuple{
        field("op", &ErrorMapRow::op),
        field("variant", &ErrorMapRow::variant),
        field("dtype", &ErrorMapRow::dtype),
        field("hidden", &ErrorMapRow::hidden),
        field("rows", &ErrorMapRow::rows),
        field("case", &ErrorMapRow::caseName),
        field("output", &ErrorMapRow::output),
        field("columns", &ErrorMapRow::columns),
        field("row_bins", &ErrorMapRow::rowBins),
        field("column_bins", &ErrorMapRow::columnBins),
        field("ulp", &ErrorMapRow::ulp),
        field("histogram", &ErrorMapRow::histogram),
        field("native_histogram", &ErrorMapRow::nativeHistogram),
        field("worst_row", &ErrorMapRow::worstRow),
        field("worst_column", &ErrorMapRow::worstColumn),
        field("got", &ErrorMapRow::got),
        field("native", &ErrorMapRow::native),
        field("exact", &ErrorMapRow::exact),
    };
};

/// The work of one operator at one shape and type, and what this device did best in the same run.
struct RooflineRow {
    std::string op, dtype;
    std::int64_t hidden = 0;
    std::int64_t rows = 0;
    double bytes = 0;  ///< that have to move between memory and the device
    double flops = 0;
    std::optional<double> copyGbPerS;        ///< read and written bytes of a large copy
    std::optional<double> matmulGflopPerS;   ///< of a large matrix product in that type
    std::optional<double> launchFloorUs;

    bool operator==(const RooflineRow&) const = default;
};

template <>
struct RowSchema<RooflineRow> {
    static constexpr std::string_view kName = "roofline";
    static constexpr auto kFields = std::tuple{
        field("op", &RooflineRow::op),
        field("dtype", &RooflineRow::dtype),
        field("hidden", &RooflineRow::hidden),
        field("rows", &RooflineRow::rows),
        field("bytes", &RooflineRow::bytes),
        field("flops", &RooflineRow::flops),
        field("copy_gb_per_s", &RooflineRow::copyGbPerS),
        field("matmul_gflop_per_s", &RooflineRow::matmulGflopPerS),
        field("launch_floor_us", &RooflineRow::launchFloorUs),
    };
};

}  // namespace kernelscope
