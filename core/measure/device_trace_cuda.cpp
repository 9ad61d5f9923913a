#include "core/measure/device_trace.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <kineto/ActivityType.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include "core/device/system.h"

namespace kernelscope {
namespace {

namespace profiler = torch::autograd::profiler;
namespace impl = torch::profiler::impl;

// The first passes under a trace pay for its buffers and callbacks; they are not kept.
constexpr int kWarmUpPasses = 2;

std::optional<NodeKind> kindOf(const profiler::KinetoEvent& event) {
    if (event.deviceType() != c10::DeviceType::CUDA) return std::nullopt;
    switch (static_cast<libkineto::ActivityType>(event.activityType())) {
        case libkineto::ActivityType::CONCURRENT_KERNEL: return NodeKind::kernel;
        case libkineto::ActivityType::GPU_MEMSET: return NodeKind::memset;
        case libkineto::ActivityType::GPU_MEMCPY: return NodeKind::memcpy;
        default: return std::nullopt;
    }
}

struct Timed {
    std::uint64_t startNs;
    DeviceRecord record;
};

/// In CUPTI's own words where it has any.
Error unavailable(const std::string& seen, const CuptiLoader& cupti) {
    constexpr const char* kComplete = "The profile is complete without it. `kernelscope-cli doctor` says what CUPTI needs.";
    const auto problem = cuptiProblem(cupti);
    if (!problem) return makeError(ErrorCode::environment, "The device trace (CUPTI) is not available: " + seen, kComplete);
    return makeError(ErrorCode::environment, "The device trace (CUPTI) is not available: " + problem->cause, problem->fix);
}

}  // namespace

Result<std::vector<std::vector<DeviceRecord>>> traceDevice(const Pass& pass, int passes, const Device& device, std::stop_token stop, const CuptiLoader& cupti) {
    if (!cupti("cuptiActivityEnable")) return unavailable({}, cupti);
    // Otherwise CUPTI stays attached for the rest of the process, and every node of every graph takes 0.2 to 0.4 us more.
    system::setEnvironmentDefault("TEARDOWN_CUPTI", "1");
    const std::set<impl::ActivityType> activities{impl::ActivityType::CUDA};
    const impl::ProfilerConfig config(impl::ProfilerState::KINETO);
    std::vector<Timed> records;
    try {
        profiler::prepareProfiler(config, activities);
        profiler::enableProfiler(config, activities);
        for (int index = 0; index < kWarmUpPasses + passes && !stop.stop_requested(); ++index) {
            pass();
            if (const Result<void> idle = synchronize(device); !idle) return idle.error();
        }
        const std::unique_ptr<profiler::ProfilerResult> result = profiler::disableProfiler();
        for (const profiler::KinetoEvent& event : result->events()) {
            if (const auto kind = kindOf(event)) records.push_back({event.startNs(), {*kind, event.name(), static_cast<double>(event.durationNs()) / 1000.0}});
        }
    } catch (const std::exception& error) {
        return unavailable(error.what(), cupti);
    }
    if (stop.stop_requested()) return makeError(ErrorCode::cancelled, "Cancelled");
    const auto whole = static_cast<std::size_t>(kWarmUpPasses + passes);
    if (records.empty()) return unavailable("the driver lets it record nothing here", cupti);
    if (records.size() % whole != 0) {
        return makeError(ErrorCode::environment, fmt::format("The device trace (CUPTI) holds {} records, not a multiple of {} passes: some were lost", records.size(), whole),
                         "The profile is complete without it. Run the cross-check again.");
    }
    std::stable_sort(records.begin(), records.end(), [](const Timed& a, const Timed& b) { return a.startNs < b.startNs; });
    const std::size_t perPass = records.size() / whole;
    std::vector<std::vector<DeviceRecord>> byPass;
    for (std::size_t index = kWarmUpPasses; index < whole; ++index) {
        std::vector<DeviceRecord> one;
        for (std::size_t node = 0; node < perPass; ++node) one.push_back(std::move(records[index * perPass + node].record));
        byPass.push_back(std::move(one));
    }
    return byPass;
}

}  // namespace kernelscope
