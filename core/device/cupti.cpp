#include "core/device/cupti.h"

#include <array>

#include <fmt/format.h>

#include "core/device/system.h"

namespace kernelscope {
namespace {

// Our own declarations of the few things used (cupti_activity.h, cupti_result.h): the header is not in every toolkit.
using SetActivity = int (*)(int kind);
using ResultString = int (*)(int result, const char** text);
using Finalize = int (*)();
constexpr int kConcurrentKernel = 10;

struct Known {
    int result;
    const char* cause;
    const char* fix;
};

constexpr const char* kPrivileges =
    "Load the nvidia module with NVreg_RestrictProfilingToAdminUsers=0, or run as root; in a container add the capability SYS_ADMIN.";
constexpr const char* kNone = "Nothing to do: every profile is complete without it.";

constexpr std::array<Known, 10> kKnown{{
    {2, "this GPU or its driver mode is not supported by CUPTI", "Install the CUPTI that belongs to the driver; consumer and virtual GPUs may have none. Every profile is complete without it."},
    {15, "CUPTI could not be initialised", "Check that the driver is as new as this build's CUDA. Every profile is complete without it."},
    {33, "CUPTI does not work on this virtual GPU", kNone},
    {35, "the driver lets only administrators trace", kPrivileges},
    {39, "another profiler is attached to this process", "Close it (a debugger, nsys, ncu or a service that traces GPUs), then run again."},
    {40, "the host of this virtual GPU does not allow tracing", "Ask its administrator to enable profiling for it."},
    {41, "CUPTI does not work while confidential computing is on", kNone},
    {42, "CUPTI does not work on this GPU", kNone},
    {43, "CUPTI does not work on this slice of a GPU", kNone},
    {45, "CUPTI does not work under this Windows subsystem", kNone},
}};

std::string nameOf(int result, const CuptiLoader& loader) {
    const auto text = reinterpret_cast<ResultString>(loader("cuptiGetResultString"));
    const char* name = nullptr;
    return text && text(result, &name) == 0 && name ? name : fmt::format("CUPTI error {}", result);
}

}  // namespace

CuptiLoader systemCupti() {
    return [](const char* name) -> void* {
        for (const char* library : {"libcupti.so.13", "libcupti.so.12"}) {
            if (void* handle = system::openLibrary(library)) return system::symbol(handle, name);
        }
        return nullptr;
    };
}

std::optional<CuptiProblem> cuptiProblem(const CuptiLoader& loader) {
    const auto enable = reinterpret_cast<SetActivity>(loader("cuptiActivityEnable"));
    const auto disable = reinterpret_cast<SetActivity>(loader("cuptiActivityDisable"));
    if (!enable || !disable) return CuptiProblem{"its library (libcupti) is not there", "Install the CUPTI of this build's CUDA. Every profile is complete without it."};
    const int result = enable(kConcurrentKernel);
    if (result == 0) (void)disable(kConcurrentKernel);
    // Asking attaches CUPTI, whatever it answers, and an attached CUPTI slows every node of every graph of this process.
    if (const auto finalize = reinterpret_cast<Finalize>(loader("cuptiFinalize"))) (void)finalize();
    if (result == 0) return std::nullopt;
    for (const Known& known : kKnown) {
        if (known.result == result) return CuptiProblem{fmt::format("{}: {}", nameOf(result, loader), known.cause), known.fix};
    }
    return CuptiProblem{nameOf(result, loader), kNone};
}

}  // namespace kernelscope
