#pragma once
// Is a variant right? One check runs one case at one shape and type, on fresh inputs, between guard zones, against the native
// sequence and a float64 oracle.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/device.h"
#include "core/measure/error_map.h"
#include "core/measure/error_stats.h"
#include "core/ops/operator.h"

namespace kernelscope {

struct CaseInfo {
    std::string_view name;
    bool adversarial;  ///< else standard
    bool everyShape;   ///< else at a few row counts only
};

/// Every case, in the order in which they run.
std::span<const CaseInfo> validationCases();
const CaseInfo* findCase(std::string_view name);
/// Row counts of the cases that do not run at every shape.
std::span<const std::int64_t> rowsOfFewShapes();

struct CaseOutcome {
    std::string status = "ok";  ///< ok, other_order, refused, wrong, skipped
    std::string reason;
    std::optional<ErrorStats> stats;
    std::string worstIndex;  ///< row:column
    std::optional<ErrorMapRow> map;  ///< where the errors are, for basic and for what is wrong; the columns of the cell are empty

    [[nodiscard]] bool mayBeTimed() const { return status == "ok" || status == "other_order"; }
};

/// One operator at one shape and type on one device.
class Validator {
public:
    /// `beat` (may be empty) is called again and again while work of our own goes on, so that silence means that the variant is silent.
    Validator(const Operator& op, const OperatorShape& shape, at::ScalarType dtype, const Device& device, std::uint64_t seed, std::function<void()> beat = {});
    ~Validator();

    /// Runs it. A fault of the device is an error (environment): nothing on it can be trusted any more.
    Result<CaseOutcome> run(const Variant& variant, std::string_view caseName);

private:
    class Impl;
    std::unique_ptr<Impl> m_impl;
};

/// Which of the two is worse for a verdict over several cases: wrong, refused, other_order, skipped, ok.
const std::string& worseStatus(const std::string& a, const std::string& b);

}  // namespace kernelscope
