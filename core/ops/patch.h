#pragma once
// `--patch op=variant,...`: from its text to a table for the model, with a counter behind every replaced operator.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/ops/operator.h"
#include "core/ops/patch_table.h"
#include "core/records/result.h"

namespace kernelscope {

struct PatchChoice {
    std::string op, variant;

    bool operator==(const PatchChoice&) const = default;
    [[nodiscard]] std::string text() const { return op + "=" + variant; }
};

/// How often the host has called each replaced operator since the table was made. A captured graph counts once, when it is
/// captured, not when it is replayed. Any thread may read.
class LaunchCounts {
public:
    explicit LaunchCounts(const std::vector<PatchChoice>& choices);
    /// 0 for what is not patched.
    [[nodiscard]] std::int64_t of(std::string_view op, std::string_view variant) const;
    /// "op=variant" -> launches, every patched operator.
    [[nodiscard]] std::map<std::string, std::int64_t> all() const;
    void reset();
    [[nodiscard]] LaunchCounter counter(const PatchChoice& choice) const;

private:
    using Count = std::shared_ptr<std::atomic<std::int64_t>>;
    std::map<std::string, Count, std::less<>> m_counts;
};

struct Patch {
    PatchTable table;
    std::vector<PatchChoice> choices;
    std::shared_ptr<LaunchCounts> counts;
};

/// Errors: usage, quoting the part that is not op=variant. An empty text is an empty list.
Result<std::vector<PatchChoice>> parsePatch(std::string_view text);
/// The text that parsePatch reads.
std::string patchText(const std::vector<PatchChoice>& choices);

/// Errors: usage, naming the unknown operator or variant and those there are; environment when the variant does not run on the device.
/// The table keeps what it needs of `operators`, but the native variants refer to them: they have to outlive the table.
Result<Patch> makePatchTable(const std::vector<PatchChoice>& choices, const OperatorTable& operators, at::Device device);
Result<Patch> makePatchTable(std::string_view text, const OperatorTable& operators, at::Device device);

}  // namespace kernelscope
