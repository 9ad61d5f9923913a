#pragma once
// What bounds a profiled pass, and what perfect kernels would buy: from its rows, and from the work and rates that the run keeps beside them.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/records/rows.h"

namespace kernelscope {

/// The pass's work by module type (a model of bytes and operations) and the device's rates, measured in the same run.
struct PassWork {
    struct Type {
        std::string name;
        double bytes = 0, flops = 0;
    };
    double copyBytesPerSecond = 0, matmulFlopsPerSecond = 0;
    std::vector<Type> types;

    [[nodiscard]] double memoryUs() const;   ///< all bytes at the copy rate
    [[nodiscard]] double computeUs() const;  ///< all operations at the matmul rate
    /// The least that a type's work takes: the larger of the two. 0 for a type without work.
    [[nodiscard]] double leastUs(std::string_view type) const;
};

/// As a run's result holds it: {"limits": {"copy_gb_per_s", "matmul_tflops"}, "work": {PHASE: [{"type", "bytes", "flops"}]}}. Empty for a run without.
std::optional<PassWork> passWorkOf(const nlohmann::json& result, std::string_view phase);
/// Puts it there.
void keepWork(nlohmann::json& result, std::string_view phase, const PassWork& work);

/// launch: the device waits for the host more than half of the span. memory, compute: moving the bytes, or the operations, take at least half of the
/// time at the measured rate. latency: neither; kernels too small to reach a rate. unknown: no work is known.
enum class Bound { unknown, launch, memory, compute, latency };
std::string_view toString(Bound bound);  ///< "launch-bound"; "" for unknown

/// `totalUs`: the plain pass; `gpuUs`: absent on a CPU, whose own time is then the plain pass. `gapUs` of the whole pass.
Bound boundOf(double totalUs, std::optional<double> gpuUs, double gapUs, const PassWork* work);

/// What a pass gains at most when all kernels of a type are perfect: no launch gaps, and the least time that its bytes and operations take.
struct BestCase {
    std::string type;
    std::optional<double> bySpan;  ///< old pass over new one
    std::optional<double> byGpu;   ///< the same of the GPU's time
};

/// One a module type of `phase`, largest gain first; rows finer than a type are added up. Without `work` perfect kernels take no time at all.
std::vector<BestCase> bestCases(std::span<const ProfileRow> rows, std::string_view phase, const PassWork* work = nullptr);
/// "Perfect kernels would buy at most: RMSNorm 1.47x by span, 1.34x by GPU time; MLP ...". Empty where nothing is known.
std::string bestCaseSentence(std::span<const ProfileRow> rows, std::string_view phase, const PassWork* work = nullptr);

/// A row's verdict for people: "cannot tell" of cant_tell, the others as they are.
std::string verdictWords(const std::string& verdict);

/// Is an interval narrow enough for its value to be told? Of a profiler tax, a few per cent as a rule, or of a share.
bool canBeTold(const ProfileRow& row, double pct, std::optional<double> lowPct, std::optional<double> highPct);

/// Where figures of one profile disagree visibly, because medians, sums and plain passes of a noisy run do: a sentence that says so and what to
/// trust. Empty where they agree.
std::string cautionOf(std::span<const ProfileRow> rows, std::string_view phase);

}  // namespace kernelscope
